"use strict";
// The figures of `coset bench` as charts and tables: time, bandwidth, ratios, plans.

/** One point for each size that was measured, in the state of the machine in which most rounds were. */
function pointsOf(bench) {
  return bench.sizes.filter(size => size.states.length > 0)
    .map(size => ({bytes: size.size, state: size.states[0], rows: new Map(size.states[0].rows.map(row => [row.who, row]))}))
    .sort((a, b) => a.bytes - b.bytes);
}

/** Sizes are drawn by their logarithm; there is a size 0, of barriers. */
function along(points) {
  return {x: points.map(point => point.bytes > 0 ? Math.log2(point.bytes) : 0), xTexts: points.map(point => bytesText(point.bytes)),
          xTitle: "size of the array"};
}

/** Everybody who took part: coset first. */
function contestants(points) {
  const all = new Map();
  for (const point of points)
    for (const [who, row] of point.rows)
      if (row.family !== "reference") all.set(who, row.family);
  return [...all].map(([name, family]) => ({name, family}));
}

/** Coset, whoever was the best rival somewhere, and the best of each family: the others are there to be switched on. */
function shownAtFirst(points, everybody) {
  const shown = new Set([everybody[0].name, ...points.map(point => point.state.best_rival)]);
  for (const family of new Set(everybody.map(one => one.family))) {
    const mean = one => points.reduce((sum, point) => {
      const row = point.rows.get(one.name);
      return sum + (row && row.times_faster ? Math.log(row.times_faster.median) : 3);
    }, 0);
    const best = everybody.filter(one => one.family === family).sort((a, b) => mean(a) - mean(b))[0];
    if (family !== "coset") shown.add(best.name);
  }
  return shown;
}

function seriesOf(points, everybody, value, low, high) {
  const shown = shownAtFirst(points, everybody);
  const of = (one, key) => points.map(point => {
    const row = point.rows.get(one.name);
    return row ? key(row, point) : null;
  });
  return everybody.map(one => ({...one, shown: shown.has(one.name), values: of(one, value),
    ...(low ? {low: of(one, low), high: of(one, high)} : {})}));
}

function showSummary(bench, points, words) {
  const verdicts = points.map(point => point.rows.get(point.state.best_rival)).filter(Boolean).map(row => row.times_faster.verdict);
  const how = verdict => verdicts.filter(each => each === verdict).length;
  const unsteady = bench.sizes.filter(size => size.states.length === 0).map(size => bytesText(size.size)).join(", ");
  section("summary", "Results",
    unsteady ? element("p", {class: "warning"}, `No round without a change of the machine's state: ${unsteady}.`) : null,
    element("p", {}, verdicts.length === 0 ? "No rival has a figure." : `Beside the best rival at each size, coset is faster at ${how("faster")} of ${plural(verdicts.length, "size")}, ` +
      `level at ${how("level")}, slower at ${how("slower")}, undecided at ${how("undecided")}. 1.80× says that coset is 1.8 times ` +
      "faster: the median of rounds in which all took turns, with a 95 % interval. Slower: the whole interval is below 0.95×."),
    points.length === 0 ? null : table("Coset and the best rival at each size",
      [{text: "size", class: "text"}, "coset, µs", {text: "best rival", class: "text"}, "its µs", "coset is faster",
       {text: "", class: "text"}, {text: "cores", class: "text"}],
      points.map(point => {
        const own = [...point.rows.values()][0], best = point.rows.get(point.state.best_rival);
        const cores = {text: words.states[point.state.state] || point.state.state, class: "text"};
        if (!best) return [bytesText(point.bytes), microseconds(own.median_ns), {text: null, class: "text"}, null, null, null, cores];
        return [bytesText(point.bytes), microseconds(own.median_ns), {text: best.who, class: "text"}, microseconds(best.median_ns),
          timesWithInterval(best.times_faster), {text: best.times_faster.verdict, class: `text ${best.times_faster.verdict}`}, cores];
      })));
}

function showCharts(bench, points) {
  const everybody = contestants(points), place = along(points);
  section("time", "Time");
  chart({...place, id: "time-chart", title: "Time of one operation, µs", yTitle: "µs", yText: digits,
    note: "Lower is better. Lines are medians; whiskers reach from the fastest round to the slowest. The buttons switch lines on and off.",
    series: seriesOf(points, everybody, row => row.median_ns / 1000, row => fastestRound(row) / 1000, row => slowestRound(row) / 1000)});
  if (points.some(point => point.bytes > 0)) {
    section("bandwidth", "Bandwidth");
    chart({...place, id: "bandwidth-chart", title: "Size by time, GB/s", yTitle: "GB/s", yText: digits,
      note: "Higher is better. nccl-tests' algbw.", series: seriesOf(points, everybody, row => row.algbw || null)});
  }
  const rivals = everybody.filter((_, at) => at > 0);
  if (rivals.length === 0) return;
  section("ratio", "How many times faster");
  const factor = key => row => row.times_faster ? row.times_faster[key] : null;
  const best = points.map(point => point.rows.get(point.state.best_rival) || null);
  const besides = {name: "best rival", family: "coset", shown: true, values: best.map(row => row && row.times_faster.median),
    low: best.map(row => row && row.times_faster.low), high: best.map(row => row && row.times_faster.high)};
  chart({...place, id: "ratio-chart", title: "How many times faster coset is", yTitle: "times faster", yText: timesText, level: 1,
    note: "Above the dashed line coset is faster. Whiskers are 95 % intervals.",
    series: [besides, ...seriesOf(points, rivals, factor("median"), factor("low"), factor("high"))
      .map(s => ({...s, shown: false}))]});
}

function showPlans(points, why) {
  const us = seconds => digits(seconds * 1e6);
  const terms = ["rounds", "peers", "bytes", "combining", "copies", "owners", "reaching", "memory", "meeting"];
  const bySize = new Map(why.map(answer => [answer.bytes, answer]));
  const answers = points.map(point => [point, bySize.get(point.bytes)]).filter(([, answer]) => answer);
  section("plans", "Plans and why",
    element("p", {}, "The plan that calls of each size begin with, and what a model of this machine expects it to take. Calls of 4 KiB and " +
      "more go on to learn which storage of the same schedule serves best; the times above are those after learning."),
    table("The plan of each size",
      [{text: "size", class: "text"}, {text: "plan", class: "text"}, "expected, µs", "measured, µs", {text: "why", class: "text"}],
      answers.map(([point, answer]) => [bytesText(point.bytes),
        {text: `${answer.chosen.algorithm}, ${answer.chosen.storage}`, class: "text"}, us(answer.chosen.seconds),
        microseconds([...point.rows.values()][0].median_ns),
        {text: answer.rule ? `a rule precedes the model: ${answer.rule.algorithm}, ${answer.rule.storage} (${answer.rule.named_by})`
                           : answer.reason, class: "prose"}])),
    ...answers.map(([point, answer]) => tableToOpen(`${bytesText(point.bytes)}: the candidates, µs`,
      [{text: "plan", class: "text"}, "in all", ...terms],
      [answer.chosen, ...answer.candidates.slice(0, 12)].map((candidate, at) =>
        [{text: `${at === 0 ? "chosen: " : ""}${candidate.algorithm}, ${candidate.storage}`, class: "text"}, us(candidate.seconds),
         ...terms.map(term => us(candidate[term]))]))));
}
