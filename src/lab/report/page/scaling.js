"use strict";
// Scaling over ranks: what limits each size, speed-up and efficiency, points below the machine's own streams, nodes to nodes.

const limitNames = {
  turns: "turns on processors", flags: "latency of flags", own_work: "the ranks' own work", caches: "bandwidth of caches",
  handing_over: "cache lines from core to core", memory: "memory bandwidth", between_nodes: "links between nodes",
  other: "nothing that was measured alone",
};

function ranksText(run) {
  return `${run.ranks}${run.beyond_cores === "turns" ? "++" : run.beyond_cores === "threads" ? "+" : ""}`;
}

function intervalText(found) {
  return found ? `${digits(found.median)} [${digits(found.low)}, ${digits(found.high)}]` : null;
}

function strayPages(run) {
  return run.has_strays ? `${Math.round(100 * (1 - run.pages_at_home))} % of pages elsewhere` : null;
}

function othersText(run) {
  return run.disturbed ? `others had ${Math.round(100 * run.others_share)} % of the cores` : null;
}

function unsteady(run) {
  return [strayPages(run), othersText(run), run.drifts ? `drifts ${timesText(run.drift)}` : null,
    run.outliers > 0 ? plural(run.outliers, "outlier") : null,
    run.dropped_rounds > 0 ? `${run.dropped_rounds} rounds dropped` : null].filter(Boolean).join(", ");
}

/** Of the first verb's cycles, on the most ranks that have a core each, compact. */
function headlineRuns(scaling) {
  const runs = scaling.runs.filter(run => run.limit && run.place === "compact" && run.beyond_cores === "");
  if (runs.length === 0) return [];
  const verb = runs[0].verb, most = Math.max(...runs.map(run => run.ranks));
  return runs.filter(run => run.verb === verb && run.ranks === most && run.timing === "cycle");
}

/** A bar of the parts of a point's time, each measured alone: so they may come to more or less than all of it. */
function partsBar(run) {
  const parts = run.limit.parts_ns, time = run.time_ns.median;
  const moved = Math.max(parts.moving, parts.handing_over, parts.between_nodes);
  const moves = moved === parts.moving ? "moving bytes" : moved === parts.handing_over ? "lines from other cores" : "links between nodes";
  const shown = [["flags", "flags", parts.flags], ["own work", "own", parts.own_work], [moves, "moves", moved]];
  const sum = shown.reduce((all, [, , ns]) => all + ns, 0), whole = Math.max(sum, time);
  if (sum < time) shown.push(["not measured alone", "rest", time - sum]);
  const share = ns => ns > time ? "all of it by itself" : `${(100 * ns / time).toFixed(0)} %`;
  const label = shown.map(([name, , ns]) => `${name} ${share(ns)}`).join(", ");
  return [element("div", {class: "parts", "aria-hidden": "true"},
    ...shown.map(([, kind, ns]) => element("i", {class: `part ${kind}`, style: `width: ${(100 * ns / whole).toFixed(2)}%`}))),
    element("p", {class: "note"}, label)];
}

/** "memory bandwidth of node 0" before the colon, and what it is of the time. */
function limitText(run) {
  const [name, ...rest] = run.limit.words.split(": ");
  return [element("strong", {}, name), `: ${rest.join(": ")}.`];
}

const levelTexts = {memory: "memory", "own cache": "the cores' own caches", "shared cache": "a cache that cores share"};

function showLimits(scaling) {
  const runs = headlineRuns(scaling);
  if (runs.length === 0) return;
  const {verb, ranks} = runs[0];
  const key = [["flags", "flags"], ["own", "the ranks' own work"], ["moves", "bytes moved"], ["rest", "not measured alone"]];
  section("limits", `What limits ${verb}`,
    element("p", {}, `One cycle of ${verb} on ${plural(ranks, "rank")}, each on a core of its own: every rank writes its array, ` +
      `the ${verb}, every rank reads its result. Beside each size stands what took most of the time, as far as the parts can be ` +
      "measured alone on the same cores. The bars show these parts; they may come to more than the whole where they overlap."),
    element("p", {class: "legend"}, ...key.map(([kind, text]) => element("span", {class: "key"}, element("i", {class: `part ${kind}`}), text))),
    element("div", {class: "limits", id: "limit-list"}, ...runs.map(run => element("div", {class: "limit", id: `limit-${run.asked_size}`},
      element("h3", {}, `${verb} of ${bytesText(run.size)}: ${microseconds(run.time_ns.median)} µs`),
      element("p", {}, ...limitText(run), ` All arrays together lie in ${levelTexts[run.limit.data_in]}.`),
      ...partsBar(run)))));
}

/** One line for each place, over ranks. */
function overRanks(runs, key) {
  const ranks = [...new Set(runs.map(run => run.ranks))].sort((a, b) => a - b);
  const places = [...groupedBy(runs, run => run.place)];
  const value = (group, number, part) => {
    const run = group.find(each => each.ranks === number);
    return run && run[key] ? run[key][part] : null;
  };
  return {x: ranks, xTexts: ranks.map(number => ranksText(runs.find(run => run.ranks === number))),
    series: places.map(([place, group], at) => ({name: place, family: at === 0 ? "coset" : place, shown: true,
      values: ranks.map(number => value(group, number, "median")),
      low: ranks.map(number => value(group, number, "low")), high: ranks.map(number => value(group, number, "high"))}))};
}

/** Speed-up and efficiency of each verb and size, on the most ranks that have a core each. */
function speedupTable(runs) {
  const own = runs.filter(run => run.place === "compact" && run.beyond_cores === "");
  const most = Math.max(...own.map(run => run.ranks)), at = own.filter(run => run.ranks === most);
  const verbs = [...new Set(at.map(run => run.verb))];
  const cell = run => run ? `${digits(run.speedup.median)} (${(100 * run.efficiency.median).toFixed(0)} %) ` +
    `[${digits(run.speedup.low)}, ${digits(run.speedup.high)}]` : null;
  return table(`Speed-up on ${plural(most, "rank")}, (efficiency), [interval]`, ["size", ...verbs],
    [...groupedBy(at, run => run.asked_size)].map(([size, group]) =>
      [bytesText(size), ...verbs.map(verb => cell(group.find(run => run.verb === verb)))]));
}

function showSpeedups(scaling) {
  const runs = scaling.runs.filter(run => run.speedup && run.timing === "cycle");
  if (runs.length === 0) return;
  const verb = runs[0].verb, largest = runs.filter(run => run.verb === verb);
  section("speedup", "Speed-up over ranks",
    element("p", {}, "Each rank has an array of its own, so the work grows with the ranks: speed-up is the number of ranks times the time of " +
      "one rank, by the time of all; efficiency is speed-up by ranks, 1 where more ranks take no more time. Whiskers are 95 % intervals. " +
      "4+ are ranks on second hardware threads, 4++ ranks that take turns on processors."),
    speedupTable(runs));
  for (const [size, group] of groupedBy(largest, run => run.asked_size)) {
    const lines = overRanks(group, "speedup");
    if (lines.x.length < 3) continue;  // the table says it all
    chart({...lines, id: `speedup-${size}`, title: `${verb} of ${bytesText(size)}: speed-up`, xTitle: "ranks", yTitle: "times",
      yText: digits, logarithmic: false});
  }
  document.getElementById("speedup").append(tableToOpen("All points",
    [{text: "place", class: "text"}, "ranks", {text: "verb", class: "text"}, "size", {text: "timing", class: "text"}, "µs", "busbw, GB/s",
     "speed-up", "efficiency", "of the roof", {text: "limited by", class: "text"}, {text: "unsteady", class: "text"}],
    scaling.runs.filter(run => run.rounds > 0).map(run => [run.place, ranksText(run), {text: run.verb, class: "text"}, bytesText(run.size),
      {text: run.timing, class: "text"}, microseconds(run.time_ns.median), digits(run.busbw), intervalText(run.speedup),
      intervalText(run.efficiency), run.limit ? `${(100 * run.reached).toFixed(0)} %` : null,
      {text: run.limit ? `${limitNames[run.limit.by]}, ${(100 * run.limit.share).toFixed(0)} %` : null, class: "text"},
      {text: unsteady(run), class: "text"}])));
}

/** The verbs' bytes per second against size, below what the same ranks read, copy and fold at that size. */
function showRoof(scaling) {
  const runs = headlineRuns(scaling).filter(run => run.asked_size >= 1024).sort((a, b) => a.size - b.size);
  if (runs.length === 0) return;
  const sizes = runs.map(run => run.asked_size), ranks = runs[0].ranks;
  const points = verb => sizes.map(size => {
    const run = scaling.runs.find(each => each.verb === verb && each.asked_size === size && each.ranks === ranks &&
      each.place === "compact" && each.timing === "cycle" && each.limit);
    return run ? run.moved : null;
  });
  const roof = (name, key) => ({name, family: "roof", shown: true, values: runs.map(run => run.beside[key])});
  const verbs = [...new Set(scaling.runs.map(run => run.verb))];
  section("roof", "Points below the roof",
    element("p", {}, `Bytes read and written per second by ${plural(ranks, "rank")} together. The roofs are what the same ranks reach when each ` +
      "goes through arrays of that size without waiting for anybody. A point on its roof cannot become faster without moving less; one far " +
      "below waits for flags or for other cores' lines."));
  chart({id: "roof-chart", title: "GB/s of cycles against the size of each rank's array", xTitle: "size of the array",
    x: sizes.map(Math.log2), xTexts: sizes.map(bytesText), yTitle: "GB/s", yText: digits,
    series: [...verbs.map((verb, at) => ({name: verb, family: at === 0 ? "coset" : "verb", shown: at < 3, values: points(verb)})),
      roof("roof: folds", "kernel"), roof("roof: copies", "copy"), roof("roof: reads", "read"),
      roof("lines from another core", "handed_over")].filter(s => s.values.some(value => value !== null))});
}

/** {"0": 3, "1": 1}: "node 0 75 %, node 1 25 %". */
function pagesText(pagesOn) {
  const nodes = Object.entries(pagesOn || {}), all = nodes.reduce((sum, [, count]) => sum + count, 0);
  return nodes.map(([node, count]) => nodes.length === 1 ? `node ${node}` : `node ${node} ${Math.round(100 * count / all)} %`).join(", ");
}

function streamRows(streams) {
  return streams.map(stream => [`${stream.where}, ${stream.pages}`, {text: pagesText(stream.pages_on), class: "text"}, stream.ranks, bytesText(stream.array_bytes),
    ...["read", "copy", "triad", "fold", "fold_around"].map(key => intervalText(stream[key]))]);
}

/** From node to node: warmer is slower. */
function nodeMatrix(title, names, values, unit, warmIsHigh) {
  const all = values.flat().filter(value => value !== null), least = Math.min(...all), most = Math.max(...all);
  const heat = value => most > least ? (warmIsHigh ? value - least : most - value) / (most - least) : 0;
  return element("div", {class: "scroll", tabindex: "0", role: "region", "aria-label": title},
    element("p", {class: "note", "aria-hidden": "true"}, title),
    element("table", {class: "heat", "aria-label": title},
      element("tr", {}, element("td", {class: "own"}), ...names.map(name => element("th", {scope: "col"}, `node ${name}`))),
      ...values.map((row, a) => element("tr", {}, element("th", {scope: "row"}, `node ${names[a]}`),
        ...row.map(value => value === null ? element("td", {class: "own"}, "·")
          : element("td", {style: `--heat: ${heat(value).toFixed(3)}`}, `${digits(value)} ${unit}`))))));
}

function showStreams(scaling) {
  if (scaling.streams.length === 0) return;
  const between = scaling.between_nodes;
  section("streams", "What the machine moves by itself",
    element("p", {}, "Every rank goes through arrays of its own in memory and waits for nobody. Read, copy and triad are STREAM's, by stores " +
      "through the caches; fold is coset's kernel, c = a + b, and past caches the same by stores that go around them. Counted are the bytes " +
      "that loads and stores name. Where the pages are is what the system tells of each of them after it was written."),
    table("GB/s, with 95 % intervals", [{text: "cores, pages", class: "text"}, {text: "pages found on", class: "text"}, "ranks", "array", "read", "copy",
      "triad", "fold", "fold past caches"], streamRows(scaling.streams)));
  if (!between || between.nodes.length < 2) return;
  document.getElementById("streams").append(
    nodeMatrix("Reads by all cores of the row's node from the memory of the column's, GB/s", between.nodes, between.read, "GB/s", false),
    nodeMatrix("One-way latency of a cache line between cores of the row's node and of the column's, ns; the median pair", between.nodes,
      between.latency_ns, "ns", true));
}

function showReducers(scaling) {
  if (scaling.reducers.length === 0) return;
  section("reducers", "Reducers",
    element("p", {}, "One loop of updates that all ranks share by scatter_add, against the plain loop of one thread: the work stays the same, " +
      "so speed-up is the time of that by the time of all. How each way works: coset why scatter_add."));
  for (const [loop, group] of groupedBy(scaling.reducers.filter(run => run.speedup), run => run.loop)) {
    if (new Set(group.map(run => run.ranks)).size < 3) continue;
    chart({...overRanks(group, "speedup"), id: `reducer-${loop.replace(" ", "-")}`, title: `${loop}: speed-up`, xTitle: "ranks",
      yTitle: "times", yText: digits, logarithmic: false, level: 1});
  }
  document.getElementById("reducers").append(table("Loops",
    [{text: "loop", class: "text"}, "ranks", "updates", "target", "ms", "speed-up", "efficiency", {text: "unsteady", class: "text"}],
    scaling.reducers.map(run => [run.loop, run.ranks, run.updates, bytesText(run.target_bytes), digits(run.time_ns.median / 1e6),
      intervalText(run.speedup), intervalText(run.efficiency), {text: unsteady(run), class: "text"}])));
}

function showUnsteady(scaling) {
  const runs = scaling.runs.filter(run => run.rounds === 0 || unsteady(run));
  section("unsteady", "How steady it was",
    element("p", {}, runs.length === 0 ? "No point drifted, none has outliers, no other program had its cores, and all pages of all arrays were on the node of their rank."
      : `${plural(runs.length, "point")} of ${scaling.runs.length} drifted (the last third of its rounds differs from the first by more than a ` +
        "tenth), has outliers, lost rounds in which the machine changed its state, shared its cores with other programs, or had arrays with pages on another node than their rank's. Medians hold against outliers, not against drift."),
    runs.length === 0 ? null : tableToOpen("These points", [{text: "place", class: "text"}, "ranks", {text: "verb", class: "text"}, "size",
      {text: "timing", class: "text"}, {text: "what", class: "text"}, {text: "rounds, µs", class: "text"}],
    runs.map(run => [run.place, ranksText(run), {text: run.verb, class: "text"}, bytesText(run.size), {text: run.timing, class: "text"},
      {text: run.rounds === 0 ? "no round in one state" : unsteady(run), class: "text"},
      {text: (run.rounds_ns || []).map(microseconds).join(" "), class: "text"}])));
}

function showBeside(laid) {
  section("beside", "Beside another machine",
    element("dl", {}, element("dt", {}, "here"), element("dd", {}, laid.ours), element("dt", {}, "there"), element("dd", {}, laid.theirs)),
    laid.points.length === 0 ? element("p", {class: "warning"}, "No point was measured on both.")
      : table("The same points on both, µs: 2× says that here it takes half the time",
        [{text: "point", class: "text"}, "here", "there", "times faster here", {text: "limited here by", class: "text"},
         {text: "there by", class: "text"}],
        laid.points.map(point => [`${point.verb} ${bytesText(point.size)}, ${point.ranks} ${point.place}, ${point.timing}`,
          microseconds(point.ours_ns), microseconds(point.theirs_ns), timesWithInterval(point.times_faster),
          {text: point.our_limit, class: "text"}, {text: point.their_limit, class: "text"}])),
    table("The machines by themselves, GB/s", [{text: "stream", class: "text"}, "here", "there", "here / there"],
      laid.streams.map(row => [`${row.stream}, ${row.where}, ${row.pages}`, digits(row.ours), digits(row.theirs),
        timesText(row.ours / row.theirs)])));
}

function showScaling(scaling, laid) {
  showLimits(scaling);
  showRoof(scaling);
  showSpeedups(scaling);
  showStreams(scaling);
  showReducers(scaling);
  if (laid) showBeside(laid);
  showUnsteady(scaling);
}
