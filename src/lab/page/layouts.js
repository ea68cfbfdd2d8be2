// SPDX-License-Identifier: Apache-2.0
// Where ranks and links stand in the picture, a square of SIZE: on a ring, by node, on a torus.
'use strict';

const SIZE = 480, MIDDLE = SIZE / 2, LARGEST_RANK = 16;

/** `count` places on a circle, the first on top, clockwise. */
function onCircle(count, radius, x = MIDDLE, y = MIDDLE) {
  return Array.from({length: count}, (_, i) => {
    const angle = 2 * Math.PI * i / count - Math.PI / 2;
    return {x: x + radius * Math.cos(angle), y: y + radius * Math.sin(angle)};
  });
}

/** How large ranks may be on a circle of this radius. */
function rankOnCircle(count, radius) {
  const part = count > 24 ? 0.62 : 0.8;  // of the distance: neighbours' arrows need the rest
  return count < 2 ? LARGEST_RANK : Math.min(LARGEST_RANK, part * radius * Math.sin(Math.PI / count));
}

/** A line that ends where the ranks begin; `aside` keeps both directions apart. */
function lineBetween(a, b, gap, aside) {
  const length = Math.hypot(b.x - a.x, b.y - a.y) || 1;
  const x = (b.x - a.x) / length, y = (b.y - a.y) / length;
  const at = (p, along) => `${short(p.x + x * along - y * aside)} ${short(p.y + y * along + x * aside)}`;
  return `M${at(a, gap)}L${at(b, -gap)}`;
}

/** Each layout has `points` by rank, their `radius`, and its network's links as `paths`; some have `frames` to draw. */
function ringLayout(network, ranks) {
  const radius = 192, points = onCircle(ranks, radius), size = rankOnCircle(ranks, radius);
  const arc = (from, to, r) => {
    const [a, b] = [onCircle(ranks, r)[from], onCircle(ranks, r)[to]];
    const clockwise = (to - from + ranks) % ranks === 1;
    return `M${short(a.x)} ${short(a.y)}A${r} ${r} 0 0 ${clockwise ? 1 : 0} ${short(b.x)} ${short(b.y)}`;
  };
  const paths = network.links.map(({from, to, step}) => {
    if (from === to || step[1] !== 0 || (ranks === 2 && step[0] < 0)) return '';
    return arc(from, to, step[0] > 0 ? radius + size + 12 : radius + size + 5);
  });
  return {points, radius: size, paths, frames: []};
}

function nodeLayout(network) {
  const count = network.sizes.length, sine = Math.sin(Math.PI / count);
  const reach = MIDDLE - 28;  // outside it, the uplinks
  const hull = count === 1 ? reach : reach * sine / (1.05 + sine);
  const centres = count === 1 ? [{x: MIDDLE, y: MIDDLE}] : onCircle(count, reach - hull);
  const most = Math.max(...network.sizes), within = hull * (most > 2 ? 0.68 : 0.5);
  const points = network.sizes.flatMap((size, node) =>
    size === 1 ? [centres[node]] : onCircle(size, within, centres[node].x, centres[node].y));
  const radius = Math.min(most === 1 ? hull * 0.6 : rankOnCircle(most, within), LARGEST_RANK, hull * 0.3);
  const paths = network.links.map(({node, way}) => {
    if (count === 1) return '';
    const [edge, outside] = [reach, reach + 24].map((r) => onCircle(count, r)[node]);
    return way === 'out' ? lineBetween(edge, outside, 0, 4) : lineBetween(outside, edge, 0, 4);
  });
  const frames = centres.map(({x, y}, node) => ({x, y, radius: hull, name: network.sizes[node] > 1 ? `node ${node}` : ''}));
  return {points, radius, paths, frames};
}

function torusLayout(network) {
  const {columns, rows} = network, gap = Math.min((SIZE - 20) / columns, (SIZE - 20) / rows);
  const left = MIDDLE - gap * columns / 2, top = MIDDLE - gap * rows / 2;
  const place = (column, row) => ({x: left + (column + 0.5) * gap, y: top + (row + 0.5) * gap});
  const points = Array.from({length: columns * rows}, (_, r) => place(r % columns, Math.floor(r / columns)));
  const radius = Math.min(LARGEST_RANK, gap * 0.3);
  const wrap = {columns, rows, gap, frame: {left, top, right: left + gap * columns, bottom: top + gap * rows}};
  const paths = network.links.map(({from, to, step}) => {
    const size = step[0] !== 0 ? columns : rows;
    if (from === to || (size === 2 && step[0] + step[1] < 0)) return '';  // two ranks have one link each way
    const beyond = {x: points[from].x + step[0] * gap, y: points[from].y + step[1] * gap};
    if (Math.hypot(beyond.x - points[to].x, beyond.y - points[to].y) < 1) return lineBetween(points[from], points[to], radius, 3);
    const half = {x: points[from].x + step[0] * gap / 2, y: points[from].y + step[1] * gap / 2};
    const other = {x: points[to].x - step[0] * gap / 2, y: points[to].y - step[1] * gap / 2};
    const outward = lineBetween(points[from], half, radius, 3).replace(/L.*/, '');
    return `${outward}L${short(half.x - step[1] * 3)} ${short(half.y + step[0] * 3)}` +
           `M${short(other.x - step[1] * 3)} ${short(other.y + step[0] * 3)}L${short(points[to].x - step[0] * radius - step[1] * 3)} ` +
           `${short(points[to].y - step[1] * radius + step[0] * 3)}`;
  });
  return {points, radius, paths, frames: [], wrap};
}

/** The arrow of a transfer: a curve, bent to the left so that both directions and both kinds are seen. */
function arrowPath(layout, {from, to, kind}) {
  const a = layout.points[from];
  const b = layout.wrap ? nearest(layout, from, to) : layout.points[to];
  if (layout.wrap && Math.hypot(b.x - layout.points[to].x, b.y - layout.points[to].y) > 1) return wrappedArrow(layout, from, to, b);
  return curve(a, b, layout.radius, kind === 'fold' ? 0.14 : 0.24);
}

function curve(a, b, radius, bend) {
  const control = {x: (a.x + b.x) / 2 + bend * (b.y - a.y), y: (a.y + b.y) / 2 - bend * (b.x - a.x)};
  const towards = (p, distance) => {
    const length = Math.hypot(control.x - p.x, control.y - p.y) || 1;
    return {x: p.x + (control.x - p.x) / length * distance, y: p.y + (control.y - p.y) / length * distance};
  };
  const [begin, end] = [towards(a, radius), towards(b, radius + 2)];
  const d = `M${short(begin.x)} ${short(begin.y)}Q${short(control.x)} ${short(control.y)} ${short(end.x)} ${short(end.y)}`;
  const third = (p) => (4 * begin[p] + 4 * control[p] + end[p]) / 9;  // away from the middle, where arrows cross
  return {d, label: {x: third('x'), y: third('y')}};
}

/** Where the receiver is on the shortest way over the torus, perhaps outside its frame. */
function nearest({points, wrap: {columns, rows, gap}}, from, to) {
  const hops = (a, b, size) => {
    const {direction, count} = hopsOnRing(a, b, size);
    return Math.abs(b - a) === count ? b - a : direction * count;  // where both ways are as long, inside
  };
  const right = hops(from % columns, to % columns, columns);
  const down = hops(Math.floor(from / columns), Math.floor(to / columns), rows);
  return {x: points[from].x + right * gap, y: points[from].y + down * gap};
}

/** Out at one edge of the torus and in at the opposite one. */
function wrappedArrow({points, radius, wrap: {frame}}, from, to, beyond) {
  const a = points[from], b = points[to], x = beyond.x - a.x, y = beyond.y - a.y;
  const until = (p, sx, sy) => Math.min(sx > 0 ? (frame.right - p.x) / sx : sx < 0 ? (frame.left - p.x) / sx : Infinity,
                                        sy > 0 ? (frame.bottom - p.y) / sy : sy < 0 ? (frame.top - p.y) / sy : Infinity);
  const length = Math.hypot(x, y), out = until(a, x, y), back = until(b, -x, -y);
  const begin = {x: a.x + x / length * radius, y: a.y + y / length * radius};
  const end = {x: b.x - x / length * (radius + 2), y: b.y - y / length * (radius + 2)};
  const d = `M${short(begin.x)} ${short(begin.y)}L${short(a.x + out * x)} ${short(a.y + out * y)}` +
            `M${short(b.x - back * x)} ${short(b.y - back * y)}L${short(end.x)} ${short(end.y)}`;
  return {d, label: {x: a.x + out * x * 0.7, y: a.y + out * y * 0.7}};
}
