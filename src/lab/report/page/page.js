"use strict";
// Puts the page together.

function showMachine(machine, used) {
  section("machine", "Machine",
    element("p", {}, machineText(machine) + (used.length ? ". Cores with a rank have a thicker border." : ".")),
    machinePicture(machine, used), machineTable(machine, used),
    element("h3", {}, "Latency between cores"), heatMap(machine.latency_ns, machine.team),
    ...machine.warnings.map(warning => element("p", {class: "warning"}, warning)));
}

function showEnvironment(run, words) {
  const facts = [["coset", `${run.version}, commit ${run.commit}`], ["date", run.date], ["host", run.host], ["processor", run.processor],
    ["kernel", run.kernel], ["instruction set", words.instruction_set], ["compiler", run.compiler], ["flags", run.flags || "none"]];
  const variables = Object.entries(run.variables);
  section("environment", "Environment",
    element("dl", {}, ...facts.flatMap(([name, value]) => [element("dt", {}, name), element("dd", {}, value)])),
    variables.length === 0 ? element("p", {}, "None of the variables that coset reads is set.")
      : table("Variables that coset reads and that are set", [{text: "name", class: "text"}, {text: "value", class: "text"}],
        variables.map(([name, value]) => [{text: name, class: "text"}, {text: value, class: "text"}])));
}

function showData(files) {
  section("data", "Raw data",
    element("ul", {}, ...files.map(([name, type, text]) => element("li", {},
      element("a", {download: name, href: `data:${type};charset=utf-8,${encodeURIComponent(text)}`}, name)))));
}

const timings = {
  cycle: ". Timed are cycles: owners rewrite their arrays, the collective, every rank reads the whole result.",
  call: ". Timed is the call alone.",
};

function showPage(data) {
  const run = data.bench || data.scaling;
  const what = data.bench
    ? `${run.verb} on ${plural(run.ranks, "rank")}`
    : `scaling to ${plural(Math.max(1, ...run.runs.map(each => each.ranks)), "rank")}`;
  const title = `coset bench: ${what}`;
  document.title = `${title}, ${run.host}`;
  document.querySelector("h1").textContent = title;
  document.getElementById("subtitle").textContent = `${run.processor}, host ${run.host}, ` +
    `${run.date.replace("T", " ").replace("Z", " UTC")}${timings[run.timing] || ""}`;
  if (run.partial || data.interrupted) {
    const partial = document.getElementById("partial");
    partial.hidden = false;
    partial.textContent = run.partial
      ? `Partial: ${run.partial.measured} of ${run.partial.asked} ${data.bench ? "sizes" : "points"} were measured before the run was interrupted.`
      : "The run was interrupted.";
  }
  const points = data.bench ? pointsOf(data.bench) : [];
  if (data.bench && data.bench.sizes.length > 0) showSummary(data.bench, points, data.words);
  if (data.scaling && !data.bench) showScaling(data.scaling, data.beside);
  if (data.machine) showMachine(data.machine, data.bench ? run.processors : []);
  if (points.length > 0) showCharts(data.bench, points);
  if (data.scaling && data.bench) showScaling(data.scaling);
  if (data.why && points.length > 0) showPlans(points, data.why);
  showEnvironment(run, data.words);
  const files = [];
  if (data.bench) files.push([`coset-bench-${run.verb}.json`, "application/json", JSON.stringify(data.bench, null, 1)]);
  if (data.csv) files.push([`coset-${data.bench ? `bench-${run.verb}` : "scaling"}.csv`, "text/csv", data.csv]);
  if (data.scaling) files.push(["coset-scaling.json", "application/json", JSON.stringify(data.scaling, null, 1)]);
  if (data.other) files.push(["coset-scaling-there.json", "application/json", JSON.stringify(data.other, null, 1)]);
  if (data.machine) files.push(["coset-machine.json", "application/json", JSON.stringify(data.machine, null, 1)]);
  showData(files);
}

showPage(JSON.parse(document.getElementById("figures").textContent));
