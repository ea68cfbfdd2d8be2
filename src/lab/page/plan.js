// SPDX-License-Identifier: Apache-2.0
// A plan, replayed from its JSON: the transfers of each step, what every rank holds after it, and volumes. Volumes are
// whole numbers of units, the common denominator of the blocks' sizes.
'use strict';

function greatestDivisor(a, b) {
  return b === 0 ? a : greatestDivisor(b, a % b);
}

/** "3/7" as [3, 7]. */
function fractionOf(text) {
  const [over, under = '1'] = text.split('/');
  return [Number(over), Number(under)];
}

/** [0, 1, 2, 5] as "0-2,5"; the numbers ascend. */
function runsOf(numbers) {
  const runs = [];
  for (let first = 0, last; first < numbers.length; first = last + 1) {
    last = first;
    while (numbers[last + 1] === numbers[last] + 1) last++;
    runs.push(first === last ? `${numbers[first]}` : `${numbers[first]}-${numbers[last]}`);
  }
  return runs.join(',');
}

/** Sets of ranks, a bit for each. */
const RankSet = {
  of(rank, ranks) {
    const words = new Uint32Array(Math.ceil(ranks / 32));
    words[rank >> 5] = 1 << (rank & 31);
    return words;
  },
  union(a, b) {
    return a.map((word, i) => word | b[i]);
  },
  size(set) {
    let count = 0;
    for (let word of set) for (; word !== 0; word &= word - 1) count++;
    return count;
  },
  members(set) {
    const found = [];
    set.forEach((word, i) => {
      for (let bit = 0; bit < 32; bit++) if (word >>> bit & 1) found.push(32 * i + bit);
    });
    return found;
  },
};

class Plan {
  constructor(json) {
    this.json = json;
    this.ranks = json.ranks;
    this.blocks = json.blocks.length;
    this.steps = json.steps.length;
    const said = Object.entries(json.parameters).filter(([, value]) => value !== 0);  // 0 is every such default
    const parameters = said.map(([key, value]) => `${key}=${value}`).join(',');
    this.name = parameters ? `${json.algorithm}(${parameters})` : json.algorithm;
    this.measureBlocks();
    this.replay();
  }

  measureBlocks() {
    const sizes = this.json.blocks.map((block) => fractionOf(block.size));
    this.unit = sizes.reduce((unit, [, under]) => unit / greatestDivisor(unit, under) * under, 1);
    this.sizes = sizes.map(([over, under]) => over * (this.unit / under));
    let begin = 0;
    this.owners = this.sizes.map((size) => {
      const owner = Math.min(Math.floor(begin * this.ranks / this.unit), this.ranks - 1);
      begin += size;
      return owner;
    });
  }

  /** Broadcasts and allgathers begin with one holder of each block, the others with one input on each rank. */
  hasInput(rank, block) {
    if (this.json.collective === 'broadcast') return rank === this.json.root;
    return this.json.collective !== 'allgather' || rank === this.owners[block];
  }

  replay() {
    this.held = []; // [rank * blocks + block]: what is there, oldest first, each with the step that made it
    for (let rank = 0; rank < this.ranks; rank++) {
      const input = RankSet.of(rank, this.ranks);
      for (let block = 0; block < this.blocks; block++)
        this.held.push(this.hasInput(rank, block) ? [{slot: 0, since: 0, set: input, count: 1}] : []);
    }
    this.transfers = [[]];  // [step]: what moves in it; step 0 is before the first
    this.sent = [new Float64Array(this.ranks)];  // [step][rank]: in all steps up to it
    this.received = [new Float64Array(this.ranks)];
    this.json.steps.forEach((step, index) => this.replayStep(step, index + 1));
    this.most = 1;  // contributors of a result
    this.results = 0;
    this.json.result.forEach((row, rank) => row.forEach((slot, block) => {
      if (slot === null) return;
      this.results++;
      this.most = Math.max(this.most, this.valueIn(rank, block, slot).count);
    }));
  }

  replayStep(step, number) {
    const transfers = new Map(), read = new Set();
    const sent = this.sent[number - 1].slice(), received = this.received[number - 1].slice();
    for (const {rank, block, slot, from} of step) {
      let set = null;
      for (const [peer, peersSlot] of from) {
        const value = this.valueIn(peer, block, peersSlot).set;
        set = set ? RankSet.union(set, value) : value;
        const what = `${rank} ${peer} ${block} ${peersSlot}`;
        if (peer === rank || read.has(what)) continue;
        read.add(what);
        sent[peer] += this.sizes[block];
        received[rank] += this.sizes[block];
        const kind = from.length > 1 ? 'fold' : 'copy', ends = `${peer} ${rank} ${kind}`;
        if (!transfers.has(ends)) transfers.set(ends, {from: peer, to: rank, kind, blocks: [], volume: 0});
        transfers.get(ends).blocks.push(block);
        transfers.get(ends).volume += this.sizes[block];
      }
      this.held[rank * this.blocks + block].push({slot, since: number, set, count: RankSet.size(set)});
    }
    for (const {blocks} of transfers.values()) blocks.sort((a, b) => a - b);
    this.transfers.push([...transfers.values()].sort((a, b) => a.from - b.from || a.to - b.to));
    this.sent.push(sent);
    this.received.push(received);
  }

  valueIn(rank, block, slot) {
    return this.held[rank * this.blocks + block].find((value) => value.slot === slot);
  }

  /** The values of a block on a rank after a step. */
  valuesAt(step, rank, block) {
    return this.held[rank * this.blocks + block].filter((value) => value.since <= step);
  }

  /** The fullest of them, and whether the result is among them; null where there is none. */
  bestAt(step, rank, block) {
    const slot = this.json.result[rank][block];
    let best = null, isFinal = false;
    for (const value of this.held[rank * this.blocks + block]) {
      if (value.since > step) break;
      if (best === null || value.count >= best.count) best = value;
      isFinal ||= value.slot === slot;
    }
    return best && {count: best.count, set: best.set, isFinal};
  }

  /** "7/4": so many vectors. */
  volumeText(units) {
    const divisor = greatestDivisor(units, this.unit) || 1;
    return this.unit === divisor ? `${units / divisor}` : `${units / divisor}/${this.unit / divisor}`;
  }

  /** "4x3" of the algorithm's parameters, the innermost first; none unless they hold all ranks. */
  levels() {
    const levels = `${this.json.parameters.dims ?? ''}`.split('x').map(Number);
    return levels.reduce((a, b) => a * b) === this.ranks ? levels : [];
  }

  /** How many ranks each node has, where the algorithm's parameters say so: the last of several levels is between nodes. */
  nodes() {
    const {nodes} = this.json.parameters, levels = this.levels();
    if (nodes) return `${nodes}`;
    return levels.length < 2 ? '' : Array(levels.at(-1)).fill(this.ranks / levels.at(-1)).join('+');
  }

  /** Columns and rows of a torus: the first dimension and all others, or as square as can be. */
  torus() {
    const [first] = this.levels();
    if (first) return [first, this.ranks / first];
    let rows = Math.floor(Math.sqrt(this.ranks));
    while (this.ranks % rows !== 0) rows--;
    return [this.ranks / rows, rows];
  }
}
