// SPDX-License-Identifier: Apache-2.0
// Networks that a plan may run on: a ring, a torus, nodes with an uplink each. Which links a transfer crosses, and what
// all transfers up to a step put on each link.
'use strict';

/** Hops along one ring of `size`, the shorter way round: forward where both are as long. */
function hopsOnRing(from, to, size) {
  const forward = (to - from + size) % size;
  return forward <= size - forward ? {direction: 1, count: forward} : {direction: -1, count: size - forward};
}

/** Each network has `links`, names by number, and `route(from, to)`, the numbers of the links on the way. */
function ringNetwork(ranks) {
  return torusNetwork(ranks, 1);
}

/** Rank r stands in column r % columns; transfers go along the row first. */
function torusNetwork(columns, rows) {
  const ranks = columns * rows;
  const steps = [[1, 0], [-1, 0], [0, 1], [0, -1]];
  const neighbour = (rank, [right, down]) => {
    const column = (rank % columns + right + columns) % columns;
    const row = (Math.floor(rank / columns) + down + rows) % rows;
    return row * columns + column;
  };
  const links = [];
  for (let rank = 0; rank < ranks; rank++)
    for (const step of steps) links.push({from: rank, to: neighbour(rank, step), step});
  for (const link of links) link.name = `${link.from} → ${link.to}`;
  const route = (from, to) => {
    const crossed = [];
    let at = from;
    const walk = ({direction, count}, axis) => {
      const way = 2 * axis + (direction > 0 ? 0 : 1);
      for (; count > 0; count--) {
        crossed.push(4 * at + way);
        at = links[4 * at + way].to;
      }
    };
    walk(hopsOnRing(from % columns, to % columns, columns), 0);
    walk(hopsOnRing(Math.floor(from / columns), Math.floor(to / columns), rows), 1);
    return crossed;
  };
  return {links, route, columns, rows};
}

/** Transfers between nodes leave one by its uplink and enter the other by its own. */
function nodeNetwork(sizes) {
  const nodeOf = sizes.flatMap((size, node) => Array(size).fill(node));
  const links = sizes.flatMap((_, node) => [{node, way: 'out', name: `node ${node} out`}, {node, way: 'in', name: `node ${node} in`}]);
  const route = (from, to) => nodeOf[from] === nodeOf[to] ? [] : [2 * nodeOf[from], 2 * nodeOf[to] + 1];
  return {links, route, nodeOf, sizes};
}

/** [step][link]: what has crossed it in all steps up to that one. */
function loadsOf(plan, network) {
  const loads = [new Float64Array(network.links.length)];
  for (let step = 1; step <= plan.steps; step++) {
    const sum = loads[step - 1].slice();
    for (const {from, to, volume} of plan.transfers[step])
      for (const link of network.route(from, to)) sum[link] += volume;
    loads.push(sum);
  }
  return loads;
}

/** "5+2+4" or "4*2", two nodes of four, as numbers; null unless they hold all ranks. */
function nodeSizes(text, ranks) {
  const sizes = text.split(/[+,]/).flatMap((part) => {
    const [size, times = '1'] = part.split('*');
    return Number(times) <= ranks ? Array(Math.max(1, Number(times) | 0)).fill(Number(size)) : [NaN];
  });
  const fits = sizes.every((size) => Number.isInteger(size) && size > 0) && sizes.reduce((a, b) => a + b) === ranks;
  return fits ? sizes : null;
}

/** "4x3" as columns and rows; null unless they hold all ranks. */
function torusShape(text, ranks) {
  const shape = text.split('x').map(Number);
  const fits = shape.length === 2 && shape.every((n) => Number.isInteger(n) && n > 0) && shape[0] * shape[1] === ranks;
  return fits ? shape : null;
}
