"use strict";
// A chart by uPlot, with what uPlot leaves out: a legend of buttons, the keyboard, whiskers, and the table beside it.

function colour(name) { return getComputedStyle(document.documentElement).getPropertyValue(name).trim(); }

const dashes = [[], [8, 4], [2, 4], [10, 4, 2, 4], [4, 4]];

/** Lines that families share, and colours by turns: {stroke: "--c0", dash: []} for each series, the first of all coset's. */
function styles(series) {
  const families = [...new Set(series.map(s => s.family))];
  return series.map((s, at) => ({
    stroke: s.family === "coset" && at === 0 ? "--coset" : `--c${(at - 1 + 8) % 8}`,
    dash: dashes[families.indexOf(s.family) % dashes.length],
    width: at === 0 ? 3 : 1.5,
  }));
}

/** From the low to the high value of each point, where a series has them. */
function whiskers(series) {
  return plot => {
    const {ctx, bbox} = plot;
    ctx.save();
    ctx.beginPath();
    ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
    ctx.clip();
    ctx.lineWidth = devicePixelRatio;
    ctx.globalAlpha = 0.7;
    series.forEach((s, at) => {
      if (!plot.series[at + 1].show || !s.low) return;
      ctx.strokeStyle = colour(s.style.stroke);
      // Beside each other, so that those of neighbours can be told apart.
      const aside = ((at % 7) - 3) * 2 * devicePixelRatio;
      plot.data[0].forEach((x, k) => {
        if (s.low[k] === null || s.high[k] === null) return;
        const left = plot.valToPos(x, "x", true) + aside;
        ctx.beginPath();
        ctx.moveTo(left, plot.valToPos(s.low[k], "y", true));
        ctx.lineTo(left, plot.valToPos(s.high[k], "y", true));
        ctx.stroke();
      });
    });
    ctx.restore();
  };
}

/** A line across at a value of y, where nothing is gained or lost. */
function levelLine(value) {
  return plot => {
    if (value === undefined) return;
    const {ctx, bbox} = plot, y = plot.valToPos(value, "y", true);
    ctx.save();
    ctx.strokeStyle = colour("--text");
    ctx.setLineDash([6, 6]);
    ctx.beginPath();
    ctx.moveTo(bbox.left, y);
    ctx.lineTo(bbox.left + bbox.width, y);
    ctx.stroke();
    ctx.restore();
  };
}

function axis(options) {
  return {stroke: () => colour("--text"), grid: {stroke: () => colour("--line"), width: 1},
          ticks: {stroke: () => colour("--line"), width: 1}, font: "13px system-ui, sans-serif", ...options};
}

/** 1, 2, 5, 10 …, or closer where that would be too few. */
function logarithmicTicks(low, high) {
  const steps = high / low > 8 ? (high / low > 2000 ? [1] : [1, 2, 5]) : [1, 1.25, 1.5, 2, 2.5, 3, 4, 5, 6, 8];
  const ticks = [];
  for (let decade = Math.floor(Math.log10(low)); decade <= Math.log10(high); ++decade)
    ticks.push(...steps.map(step => step * 10 ** decade).filter(tick => tick >= low && tick <= high));
  return ticks;
}

/** As many labels as there is room for. */
function sparse(texts, plot, room) {
  const each = Math.max(1, Math.ceil(texts.length * room / Math.max(plot.width - 80, room)));
  return texts.map((text, at) => at % each === 0 ? text : null);
}

/**
 * A figure: title, chart, legend, table. `x` rises; xTexts name its points. Each of `series` has a name, a family,
 * values with null where there is none, maybe low and high, and shown. `yText` formats values, `level` draws a line.
 */
function chart({id, title, note, xTitle, x, xTexts, yTitle, yText, series, level, logarithmic = true}) {
  styles(series).forEach((style, at) => { series[at].style = style; });
  const holder = element("div", {class: "plot", id, tabindex: "0", role: "slider", "aria-label": `${title}: ${xTitle}`,
    "aria-valuemin": "0", "aria-valuemax": String(x.length - 1), "aria-valuenow": "0",
    "aria-valuetext": "Arrow keys move along the chart; the table below has all values"});
  // No status: a screen reader says the slider's text already.
  const readout = element("p", {class: "readout", id: `${id}-values`},
    "Point at the chart, or move along it with the arrow keys.");
  const figure = element("figure", {}, element("figcaption", {}, title), note ? element("p", {class: "note"}, note) : null, holder,
    readout);
  document.getElementById("main").lastElementChild.append(figure);

  const range = (_, low, high) => {
    if (low === null) [low, high] = [level || 1, level || 1];  // all lines are switched off
    const [least, most] = level === undefined ? [low, high] : [Math.min(low, level), Math.max(high, level)];
    return logarithmic ? [least / 1.3, most * 1.3] : [0, most * 1.1 || 1];
  };
  const one = x.length === 1 ? [x[0] - 1, x[0] + 1] : [x[0], x[x.length - 1]];
  const margin = (one[1] - one[0]) * 0.03;
  const plot = new uPlot({
    width: holder.clientWidth || 600, height: window.innerWidth < 640 ? 260 : 340, legend: {show: false},
    cursor: {drag: {x: false, y: false}, points: {size: 7}},
    scales: {x: {time: false, range: [one[0] - margin, one[1] + margin]}, y: {distr: logarithmic ? 3 : 1, range}},
    axes: [
      axis({splits: () => x, values: plot => sparse(xTexts, plot, 64), label: xTitle, labelSize: 22}),
      axis({size: 64, label: yTitle, labelSize: 20, values: (_, splits) => splits.map(yText),
            ...(logarithmic ? {splits: (_, axis, low, high) => logarithmicTicks(low, high), filter: (_, splits) => splits} : {})}),
    ],
    series: [{}, ...series.map(s => ({
      label: s.name, show: s.shown, stroke: () => colour(s.style.stroke), dash: s.style.dash, width: s.style.width, spanGaps: true,
      points: {show: true, size: 6, fill: () => colour(s.style.stroke)},
    }))],
    hooks: {
      draw: [levelLine(level), whiskers(series)],
      setCursor: [plot => { if (plot.cursor.idx !== null && plot.cursor.idx !== undefined) say(plot.cursor.idx); }],
    },
  }, [x, ...series.map(s => s.values)], holder);

  function say(at) {
    const values = series.filter((s, k) => plot.series[k + 1].show && s.values[at] !== null)
      .map(s => `${s.name} ${yText(s.values[at])}${s.low && s.low[at] !== null ? ` (${yText(s.low[at])} to ${yText(s.high[at])})` : ""}`);
    const text = `${xTexts[at]}: ${values.join(", ") || "no values"}`;
    readout.textContent = text;
    holder.setAttribute("aria-valuenow", String(at));
    holder.setAttribute("aria-valuetext", text);
  }
  function goTo(at) {
    const values = series[0].values[at];
    plot.setCursor({left: plot.valToPos(x[at], "x"), top: values === null ? 0 : plot.valToPos(values, "y")});
    say(at);
  }
  holder.addEventListener("keydown", event => {
    const now = Number(holder.getAttribute("aria-valuenow")), last = x.length - 1;
    const to = {ArrowRight: now + 1, ArrowUp: now + 1, ArrowLeft: now - 1, ArrowDown: now - 1, Home: 0, End: last}[event.key];
    if (to === undefined) return;
    event.preventDefault();
    goTo(Math.min(Math.max(to, 0), last));
  });
  holder.addEventListener("focus", () => { if (holder.matches(":focus-visible")) goTo(Number(holder.getAttribute("aria-valuenow"))); });
  new ResizeObserver(() => plot.setSize({width: holder.clientWidth, height: plot.height})).observe(holder);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => plot.redraw(false));

  figure.append(legend(plot, series, title),
    tableToOpen(`${title}: all values`, [{text: xTitle, class: "text"}, ...series.map(s => s.name)],
      x.map((_, at) => [xTexts[at], ...series.map(s => s.values[at] === null ? null : yText(s.values[at]))])));
  return figure;
}

/** A button for each series. */
function legend(plot, series, title) {
  const buttons = series.map((s, at) => {
    const line = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    line.setAttribute("width", "28");
    line.setAttribute("height", "8");
    line.setAttribute("aria-hidden", "true");
    const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
    path.setAttribute("d", "M0 4H28");
    path.setAttribute("style", `stroke: var(${s.style.stroke}); stroke-width: ${s.style.width + 0.5}; stroke-dasharray: ${s.style.dash.join(" ") || "none"}`);
    line.append(path);
    return element("button", {type: "button", "aria-pressed": String(s.shown), onclick: event => {
      const shown = !plot.series[at + 1].show;
      plot.setSeries(at + 1, {show: shown});
      event.currentTarget.setAttribute("aria-pressed", String(shown));
    }}, line, s.name);
  });
  return element("div", {class: "legend", role: "group", "aria-label": `Lines of the chart ${title}`}, ...buttons);
}
