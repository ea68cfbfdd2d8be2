"use strict";
// The machine: nodes around caches around cores, and the latencies between cores as a heat map.

function machinePicture(machine, used) {
  const isLarge = machine.cores > 8;
  const rankOf = new Map(used.map((processor, rank) => [processor, rank]));
  const box = (kind, title, inside) => element("div", {class: kind}, title, element("div", {class: "inside"}, ...inside));
  const core = processors => {
    const ranks = processors.filter(p => rankOf.has(p.os_index)).map(p => rankOf.get(p.os_index));
    const numbers = processors.map(p => p.os_index).join(" ");
    const names = isLarge ? numbers : `processor${processors.length > 1 ? "s" : ""} ${numbers}`;
    return element("div", {class: ranks.length ? "core used" : "core"}, names,
      ranks.length ? `, rank ${ranks.join(" ")}` : "");
  };
  const cores = processors => [...groupedBy(processors, p => p.core).values()].map(core);
  // A box around each core would say nothing new.
  const caches = processors => {
    const groups = [...groupedBy(processors, p => p.l2).values()];
    return isLarge && groups.length === cores(processors).length ? cores(processors)
      : groups.map(group => box("cache", cacheName("L2", machine.caches.L2), cores(group)));
  };
  const inNode = processors => [...groupedBy(processors, p => p.l3).entries()].flatMap(([l3, group]) =>
    l3 === null || l3 === undefined ? caches(group) : [box("cache", cacheName("L3", machine.caches.L3), caches(group))]);
  const nodes = [...groupedBy(machine.processors, p => p.node).entries()].map(([node, group]) => {
    const facts = machine.nodes[node];
    return box("node", `node ${facts ? facts.os_index : node}${facts && facts.bytes ? `, ${bytesText(facts.bytes)}` : ""}`,
      inNode(group));
  });
  return element("div", {class: "machine", role: "img", "aria-label": machineText(machine)}, ...nodes);
}

function cacheName(level, bytes) { return bytes ? `${level}, ${bytesText(bytes)}` : level; }

function machineText(machine) {
  const caches = Object.entries(machine.caches).filter(([, bytes]) => bytes > 0)
    .map(([level, bytes]) => `${level} ${bytesText(bytes)}`).join(", ");
  return `${plural(machine.cores, "core")}, ${plural(machine.processors.length, "processor")}, ` +
    `${plural(machine.nodes.length, "node")}; caches: ${caches || "unknown"}`;
}

function machineTable(machine, used) {
  return tableToOpen("The machine as a table", ["processor", "core", "L2", "L3", "node", "package", "rank"],
    machine.processors.map(p => {
      const rank = used.indexOf(p.os_index);
      return [p.os_index, p.core, p.l2, p.l3, p.node, p.package, rank < 0 ? null : rank];
    }));
}

/** One-way latencies of cache lines, ns: [a][b] between the processors `names`. */
function heatMap(latency, names) {
  const pairs = latency.flatMap((row, a) => row.filter((_, b) => a !== b));
  if (pairs.length === 0) return element("p", {}, "No latencies: there is one core, or ranks take turns on cores.");
  // Hundreds of cores are more pairs than a call takes arguments.
  const least = pairs.reduce((a, b) => Math.min(a, b)), most = pairs.reduce((a, b) => Math.max(a, b));
  const heat = ns => most > least ? (ns - least) / (most - least) : 0;
  const readout = element("p", {class: "readout", role: "status"},
    `${least.toFixed(0)} to ${most.toFixed(0)} ns. Point at a pair, or move to it with Tab and the arrow keys.`);
  const say = (a, b) => {
    readout.textContent = `From processor ${names[a]} to processor ${names[b]}: ${latency[a][b].toFixed(1)} ns one way, ` +
      `${(latency[a][b] / least).toFixed(2)} times the nearest pair`;
  };
  const cells = latency.map((row, a) => row.map((ns, b) => a === b
    ? element("td", {class: "own"}, "·")
    : element("td", {style: `--heat: ${heat(ns).toFixed(3)}`, tabindex: "-1",
                     onmouseover: () => say(a, b), onfocus: () => say(a, b)}, ns.toFixed(0))));
  // Where cells are small there is room for each eighth name.
  const isDense = names.length > 24;
  const head = (scope, name, at) => element("th", {scope, "aria-label": String(name)}, isDense && at % 8 !== 0 ? "" : String(name));
  const title = "One-way latency of a cache line before the run, ns, from the row's processor to the column's";
  const grid = element("table", {class: isDense ? "heat dense" : "heat", id: "heat", "aria-label": title},
    element("tr", {}, element("td", {class: "own"}), ...names.map((name, at) => head("col", name, at))),
    ...cells.map((row, a) => element("tr", {}, head("row", names[a], a), ...row)));
  // Rows have a cell less than there are processors.
  const all = cells.flat().filter(cell => !cell.classList.contains("own")), row = names.length - 1;
  all[0].tabIndex = 0;
  grid.addEventListener("keydown", event => {
    const step = {ArrowLeft: -1, ArrowRight: 1, ArrowUp: -row, ArrowDown: row}[event.key], now = all.indexOf(event.target);
    if (step === undefined || now < 0) return;
    event.preventDefault();
    const next = all[(now + step + all.length) % all.length];
    [event.target.tabIndex, next.tabIndex] = [-1, 0];
    next.focus();
  });
  return element("div", {}, element("div", {class: "scroll"}, element("p", {class: "note", "aria-hidden": "true"}, title), grid),
    readout);
}
