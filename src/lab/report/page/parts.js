"use strict";
// Elements and texts: everything that comes from the data is set as text, never as markup.

/** element("p", {class: "note"}, "text", another) */
function element(name, attributes, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (value === true) made.setAttribute(key, "");
    else if (value !== false && value !== null && value !== undefined) made.setAttribute(key, value);
  }
  made.append(...children.filter(child => child !== null && child !== undefined));
  return made;
}

/** A table that scrolls by itself where it is wider than the page. Cells are texts or {text, class}. */
function table(caption, heads, rows) {
  const cell = (name, content, more) => {
    const {text, ...rest} = typeof content === "object" && content !== null ? content : {text: content};
    return element(name, {...more, ...rest}, text === null || text === undefined ? "–" : String(text));
  };
  return element("div", {class: "scroll", tabindex: "0", role: "region", "aria-label": caption},
    element("p", {class: "note", "aria-hidden": "true"}, caption),
    element("table", {"aria-label": caption},
      element("thead", {}, element("tr", {}, ...heads.map(head => cell("th", head, {scope: "col"})))),
      element("tbody", {}, ...rows.map(row => element("tr", {},
        ...row.map((content, at) => at === 0 ? cell("th", content, {scope: "row"}) : cell("td", content)))))));
}

/** What a chart or picture shows, as a table to open. */
function tableToOpen(title, heads, rows) {
  return element("details", {}, element("summary", {}, title), table(title, heads, rows));
}

/** A part of the page, with its line in the contents. */
function section(id, title, ...children) {
  document.getElementById("contents").append(element("li", {}, element("a", {href: `#${id}`}, title)));
  const made = element("section", {id, "aria-labelledby": `${id}-title`}, element("h2", {id: `${id}-title`}, title), ...children);
  document.getElementById("main").append(made);
  return made;
}

/** As many digits as matter: 0.088, 12.4, 3170. */
function digits(value) {
  if (value === null || value === undefined || !isFinite(value)) return "–";
  const size = Math.abs(value);
  return value.toFixed(size >= 1000 ? 0 : size >= 100 ? 1 : size >= 10 ? 2 : 3);
}

function bytesText(bytes) {
  const units = ["B", "KiB", "MiB", "GiB"];
  let unit = 0;
  for (; bytes >= 1024 && unit + 1 < units.length; ++unit) bytes /= 1024;
  return `${Number(bytes.toPrecision(3))} ${units[unit]}`;
}

function microseconds(nanoseconds) { return digits(nanoseconds / 1000); }

/** "1.80×": how many times faster coset is. */
function timesText(factor) {
  return `${factor.toFixed(factor < 0.1 ? 3 : factor < 10 ? 2 : factor < 100 ? 1 : 0)}×`;
}

/** "1.80× [1.71, 1.88]" */
function timesWithInterval(found) {
  return `${timesText(found.median)} [${found.low.toFixed(2)}, ${found.high.toFixed(2)}]`;
}

function plural(number, one, many) { return `${number} ${number === 1 ? one : many || `${one}s`}`; }

/** The least and the largest of a row's rounds. */
function fastestRound(row) { return Math.min(...row.rounds_ns); }
function slowestRound(row) { return Math.max(...row.rounds_ns); }

function groupedBy(all, key) {
  const groups = new Map();
  for (const each of all) groups.set(key(each), [...(groups.get(key(each)) || []), each]);
  return groups;
}
