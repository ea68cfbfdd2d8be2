// SPDX-License-Identifier: Apache-2.0
// One plan on the page: its picture, what every rank holds, and the same as tables.
'use strict';

const MOST_LABELS = 32;   // arrows of a step that are labelled with their blocks
const MANY_ARROWS = 400;  // arrows of a step that are drawn thin

class Panel {
  constructor(plan, number) {
    Object.assign(this, {plan, number});
    const {json} = plan, p = json.properties;
    this.picture = svg('svg', {class: 'picture', viewBox: `0 0 ${SIZE} ${SIZE}`, role: 'img'});
    this.messages = new Matrix({
      rows: plan.ranks, columns: plan.ranks, rowName: 'from', columnName: 'to', label: 'Sender by receiver',
      describe: (from, to) => this.transferText(from, to),
    });
    this.partials = new Matrix({
      rows: plan.ranks, columns: plan.blocks, rowName: 'rank', columnName: 'block', label: 'What every rank holds of each block',
      describe: (rank, block) => this.holdingText(rank, block),
    });
    this.partials.resize(this.partials.width + 130);
    this.picture.addEventListener('pointerover', ({target}) => this.pointOut(target.getAttribute('data-rank')));
    this.picture.addEventListener('pointerleave', ({pointerType}) => pointerType === 'mouse' && this.pointOut(null));
    this.status = html('p', {class: 'status'});
    this.links = html('p', {class: 'links'});
    this.tables = [['Transfers of this step', () => this.transferTable()], ['What every rank holds after it', () => this.holdingTable()],
                   ['Load of the links', () => this.linkTable()]].map(([title, make]) => this.details(title, make));
    const heading = html('h2', {id: `plan${number}`}, plan.name);
    const root = json.root === null ? '' : ` with root ${json.root}`;
    this.box = html('section', {'aria-labelledby': heading.id, class: 'panel'}, heading,
      html('p', {class: 'about'}, `${json.collective}${root}, ${plan.ranks} ranks, ${plan.blocks} blocks. In all ${p.steps} steps; ` +
        `per rank at most ${p.received_max} received and ${p.combined_max} combined, in vectors; ` +
        `${p.rank_uniform ? 'same bits on every rank' : 'bits may differ between ranks'}.`),
      this.status,
      html('div', {class: 'views'},
        html('div', {}, html('h3', {}, 'Transfers'), this.picture, this.messages.box, this.messages.readout, this.links),
        html('div', {}, html('h3', {}, 'Partial results'), this.partials.box, this.partials.readout)),
      ...this.tables.map(({box}) => box));
  }

  /** A table that is made when it is looked at. */
  details(title, make) {
    const body = html('div', {class: 'scrolls', tabindex: '0', role: 'region', 'aria-label': title});
    const box = html('details', {}, html('summary', {}, title), body);
    const fill = () => box.open && body.replaceChildren(make());
    box.addEventListener('toggle', fill);
    return {box, fill};
  }

  /** Takes the page's choices as far as they fit this plan. */
  arrange({layout, nodes, torus}) {
    const {plan} = this;
    const sizes = nodeSizes(nodes || plan.nodes() || `${plan.ranks}`, plan.ranks) || [plan.ranks];
    const shape = torusShape(torus, plan.ranks) || plan.torus();
    this.isMatrix = layout === 'matrix';
    if (layout === 'nodes') {
      this.network = nodeNetwork(sizes);
      this.layout = nodeLayout(this.network);
    } else if (layout === 'torus') {
      this.network = torusNetwork(...shape);
      this.layout = torusLayout(this.network);
    } else {
      this.network = ringNetwork(plan.ranks);
      this.layout = this.isMatrix ? null : ringLayout(this.network, plan.ranks);
    }
    this.loads = loadsOf(plan, this.network);
    this.heaviest = Math.max(...this.loads.at(-1), 1);
    this.picture.toggleAttribute('hidden', this.isMatrix);
    this.messages.box.hidden = this.messages.readout.hidden = !this.isMatrix;
  }

  show(step) {
    this.step = Math.min(step, this.plan.steps);
    this.status.textContent = this.statusText();
    this.links.textContent = this.linkText();
    this.isMatrix ? this.drawMessages() : this.drawPicture();
    this.drawPartials();
    for (const {fill} of this.tables) fill();
  }

  complete() {
    let count = 0;
    this.plan.json.result.forEach((row, rank) => row.forEach((slot, block) => {
      if (slot !== null && this.plan.bestAt(this.step, rank, block)?.isFinal) count++;
    }));
    return count;
  }

  statusText() {
    const {plan, step} = this, transfers = plan.transfers[step];
    const results = `${this.complete()} of ${plan.results} results are complete`;
    if (step === 0) return `Before the first of ${plan.steps} steps: inputs only; ${results}.`;
    const folds = transfers.filter(({kind}) => kind === 'fold').length, copies = transfers.length - folds;
    const kinds = [folds && `${folds} to fold`, copies && `${copies} to copy`].filter(Boolean).join(', ') || 'none';
    const most = Math.max(...plan.received[step]);
    return `Step ${step} of ${plan.steps}, transfers: ${kinds}; up to ${plan.volumeText(most)} vectors received per rank so far; ${results}.`;
  }

  linkText() {
    const {plan, step, network} = this, loads = this.loads[step];
    if (network.links.length === 0 || this.isMatrix) return '';
    const busiest = loads.indexOf(Math.max(...loads)), all = loads.reduce((a, b) => a + b, 0);
    if (all === 0) return 'Nothing has crossed a link.';
    return `Busiest link so far: ${network.links[busiest].name}, ${plan.volumeText(loads[busiest])} vectors; all links together ${plan.volumeText(all)}.`;
  }

  drawPicture() {
    const {layout, plan, step} = this, transfers = plan.transfers[step];
    const thin = transfers.length > MANY_ARROWS ? 'arrows thin' : 'arrows';
    this.picture.setAttribute('aria-label', `${plan.name} after step ${step}: ${transfers.length} arrows; the tables below have the same`);
    const frames = layout.frames.flatMap(({x, y, radius, name}) => [
      svg('circle', {cx: short(x), cy: short(y), r: short(radius)}),
      svg('text', {x: short(x), y: short(y + 3), 'text-anchor': 'middle'}, name)]);
    this.picture.replaceChildren(
      svg('g', {class: 'frames'}, ...frames), svg('g', {class: 'links'}, ...this.linkShapes()),
      svg('g', {class: thin}, ...transfers.map((transfer) => this.arrow(transfer))),
      svg('g', {class: 'ranks'}, ...layout.points.flatMap((point, rank) => this.rank(point, rank))),
      svg('g', {class: 'labels'}, ...(transfers.length > MOST_LABELS ? [] : transfers.map((transfer) => this.label(transfer)))));
  }

  linkShapes() {
    return this.layout.paths.map((d, i) => {
      const load = this.loads[this.step][i], now = load - (this.step > 0 ? this.loads[this.step - 1][i] : 0);
      const text = `${this.network.links[i].name}: ${this.plan.volumeText(load)} so far, ${this.plan.volumeText(now)} in this step`;
      return d && svg('path', {d, class: now > 0 ? 'busy' : '', 'stroke-width': short(0.8 + 5 * load / this.heaviest)},
                      svg('title', {}, text));
    }).filter(Boolean);
  }

  arrow(transfer) {
    const {from, to, kind} = transfer;
    return svg('path', {class: kind, d: arrowPath(this.layout, transfer).d, 'data-from': from, 'data-to': to}, svg('title', {}, this.oneTransferText(transfer)));
  }

  /** Makes the arrows of one rank stand out, or, of null, none. */
  pointOut(rank) {
    const arrows = this.picture.querySelector('.arrows');
    arrows.classList.toggle('dim', rank !== null);
    for (const arrow of arrows.children)
      arrow.classList.toggle('of', rank !== null && (arrow.dataset.from === rank || arrow.dataset.to === rank));
  }

  label(transfer) {
    const {label} = arrowPath(this.layout, transfer), text = runsOf(transfer.blocks);
    return svg('text', {class: transfer.kind, x: short(label.x), y: short(label.y + 3)}, text.length > 8 ? `${text.slice(0, 7)}…` : text);
  }

  rank({x, y}, rank) {
    const radius = this.layout.radius, volumes = `received ${this.plan.volumeText(this.plan.received[this.step][rank])}, ` +
      `sent ${this.plan.volumeText(this.plan.sent[this.step][rank])} so far`;
    const circle = svg('circle', {cx: short(x), cy: short(y), r: short(radius), 'data-rank': rank}, svg('title', {}, `rank ${rank}: ${volumes}`));
    const size = Math.min(12, 1.3 * radius);
    return [circle, svg('text', {x: short(x), y: short(y + size * 0.36), 'font-size': short(size)}, `${rank}`)];
  }

  drawMessages() {
    const kinds = new Map();
    for (const {from, to, kind} of this.plan.transfers[this.step]) {
      const key = from * this.plan.ranks + to;
      kinds.set(key, kinds.has(key) ? 'fold and-copy' : kind);
    }
    this.messages.draw((from, to) => {
      const name = kinds.get(from * this.plan.ranks + to);
      return name && {name};
    });
  }

  drawPartials() {
    const {plan, step} = this;
    this.partials.draw((rank, block) => {
      const best = plan.bestAt(step, rank, block);
      return best && {name: `held${best.isFinal ? ' final' : ''} of-${best.count}`,
                      style: `fill-opacity: ${short(10 * (0.2 + 0.8 * best.count / plan.most)) / 10}`};
    });
    this.drawVolumes();
  }

  /** Beside the matrix, for each rank: received above, sent below. */
  drawVolumes() {
    const {plan, step, partials: {beside, cell, top, width}} = this;
    const most = Math.max(...plan.received.at(-1), ...plan.sent.at(-1), 1), x = width + 8, height = cell * 0.42;
    const bars = [svg('text', {x: short(x), y: 9}, 'received'), svg('text', {x: short(x), y: top - 3}, 'sent so far')];
    for (let rank = 0; rank < plan.ranks; rank++) {
      const y = top + rank * cell, volumes = [['received', plan.received], ['sent', plan.sent]];
      volumes.forEach(([name, by], i) => bars.push(svg('rect', {
        class: name, x: short(x), y: short(y + i * height), width: short(80 * by[step][rank] / most), height: short(height)})));
      if (cell >= 12) bars.push(svg('text', {x: short(x + 84), y: short(y + cell / 2 + 3)}, plan.volumeText(plan.received[step][rank])));
    }
    beside.replaceChildren(...bars);
  }

  oneTransferText({from, to, kind, blocks, volume}) {
    const which = `block${blocks.length > 1 ? 's' : ''} ${runsOf(blocks)}`;
    return `${from} → ${to}: ${which} to ${kind}, ${this.plan.volumeText(volume)} vectors`;
  }

  transferText(from, to) {
    const found = this.plan.transfers[this.step].filter((transfer) => transfer.from === from && transfer.to === to);
    return found.map((transfer) => this.oneTransferText(transfer)).join('; ') || `${from} → ${to}: nothing in this step`;
  }

  holdingText(rank, block) {
    const values = this.plan.valuesAt(this.step, rank, block), result = this.plan.json.result[rank][block];
    const text = values.map(({slot, set}) => `{${runsOf(RankSet.members(set))}}${slot === result ? ', the result' : slot === 0 ? ', its input' : ''}`);
    return `Rank ${rank}, block ${block}: ${text.join('; ') || 'nothing'}`;
  }

  transferTable() {
    const rows = this.plan.transfers[this.step].map(({from, to, kind, blocks, volume}) =>
      [from, to, kind, runsOf(blocks), this.plan.volumeText(volume)]);
    return table(`${this.plan.name}, step ${this.step}`, ['from', 'to', 'to do what', 'blocks', 'vectors'], rows);
  }

  holdingTable() {
    const rows = Array.from({length: this.plan.ranks}, (_, rank) => {
      const blocksOf = new Map();
      for (let block = 0; block < this.plan.blocks; block++) {
        const best = this.plan.bestAt(this.step, rank, block);
        const text = best ? `{${runsOf(RankSet.members(best.set))}}` : 'nothing';
        blocksOf.set(text, [...(blocksOf.get(text) || []), block]);
      }
      const held = [...blocksOf].map(([text, blocks]) => `block ${runsOf(blocks)} = ${text}`).join('; ');
      return [rank, this.plan.volumeText(this.plan.received[this.step][rank]), this.plan.volumeText(this.plan.sent[this.step][rank]), held];
    });
    return table(`${this.plan.name} after step ${this.step}`, ['rank', 'received', 'sent', 'fullest partial results'], rows);
  }

  linkTable() {
    const loads = this.loads[this.step], before = this.loads[Math.max(0, this.step - 1)];
    const rows = this.network.links.map(({name}, i) => [name, loads[i] - before[i], loads[i]]).filter(([, , load]) => load > 0)
      .map(([name, now, load]) => [name, this.plan.volumeText(now), this.plan.volumeText(load)]);
    return table(`${this.plan.name}, vectors over each link that was used`, ['link', 'in this step', 'so far'], rows);
  }
}
