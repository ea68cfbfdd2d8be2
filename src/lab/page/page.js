// SPDX-License-Identifier: Apache-2.0
// The page's controls: one step and one layout for all plans; both, and which plans are shown, stand in the address.
'use strict';

const LAYOUTS = ['ring', 'nodes', 'torus', 'matrix'];
const MOST_ARROW_RANKS = 64;  // above, the matrix of senders and receivers can be read, and arrows cannot
const PAUSE = 900;            // milliseconds of a step while it plays

class Page {
  constructor(plans) {
    this.plans = plans;
    this.panels = plans.map((plan, i) => new Panel(plan, i));
    this.last = Math.max(...plans.map(({steps}) => steps));
    document.title = `${plans.map(({name}) => name).join(', ')} – coset plan`;
    this.find('#title').textContent = [...new Set(plans.map(({json}) => `${json.collective} over ${json.ranks} ranks`))].join(', ');
    this.find('#panels').append(...this.panels.map(({box}) => box));
    this.find('#slider').max = this.last;
    this.addChoices();
    this.listen();
    this.readAddress();
    this.arrange();
  }

  find(selector) {
    return document.querySelector(selector);
  }

  addChoices() {
    if (this.plans.length < 2) return;
    this.boxes = this.plans.map(({name}, i) => html('input', {type: 'checkbox', id: `show${i}`, value: name}));
    this.find('#choices').append(...this.boxes.map((box, i) => html('label', {}, box, ` ${this.plans[i].name}`)));
    this.find('#choices').hidden = false;
    for (const box of this.boxes) box.addEventListener('change', () => this.arrange());
  }

  listen() {
    const press = (selector, act) => this.find(selector).addEventListener('click', act);
    press('#first', () => this.go(0));
    press('#back', () => this.go(this.step - 1));
    press('#forward', () => this.go(this.step + 1));
    press('#last', () => this.go(this.last));
    press('#play', () => this.isPlaying() ? this.stop() : this.play());
    this.find('#slider').addEventListener('input', () => this.go(Number(this.find('#slider').value)));
    for (const id of ['layout', 'nodes', 'torus']) this.find(`#${id}`).addEventListener('change', () => this.arrange());
    document.addEventListener('keydown', (event) => this.pressed(event));
    window.addEventListener('hashchange', () => {
      this.readAddress();
      this.arrange();
    });
  }

  /** Arrow keys step, wherever they do nothing else. */
  pressed(event) {
    if (event.altKey || event.ctrlKey || event.metaKey || event.defaultPrevented) return;
    if (event.target.closest('input:not([type=checkbox]), select, .scrolls')) return;
    const to = {ArrowLeft: this.step - 1, ArrowRight: this.step + 1, Home: 0, End: this.last}[event.key];
    if (to === undefined) return;
    event.preventDefault();
    this.go(to);
  }

  isPlaying() {
    return this.timer !== undefined;
  }

  play() {
    if (this.step === this.last) this.go(0);
    this.timer = setInterval(() => {
      this.show(this.step + 1);
      if (this.step === this.last) this.stop();
    }, PAUSE);
    this.find('#play').textContent = 'Pause';
  }

  stop() {
    clearInterval(this.timer);
    this.timer = undefined;
    this.find('#play').textContent = 'Play';
    this.announce();
  }

  /** What the user does by hand. */
  go(step) {
    if (this.isPlaying()) this.stop();
    this.show(step);
    this.announce();
  }

  show(step) {
    this.step = Math.max(0, Math.min(step, this.last));
    for (const panel of this.shown) panel.show(this.step);
    this.find('#slider').value = this.step;
    this.find('#slider').setAttribute('aria-valuetext', `step ${this.step} of ${this.last}`);
    this.find('#number').textContent = `step ${this.step} of ${this.last}`;
    for (const id of ['first', 'back']) this.disable(id, this.step === 0);
    for (const id of ['forward', 'last']) this.disable(id, this.step === this.last);
    this.writeAddress();
  }

  // Not `disabled`, which would take the focus away.
  disable(id, so) {
    this.find(`#${id}`).setAttribute('aria-disabled', so);
  }

  announce() {
    this.find('#announcement').textContent = this.shown.map(({plan, status}) => `${plan.name}: ${status.textContent}`).join(' ');
  }

  /** Takes the controls as they stand. */
  arrange() {
    const chosen = {layout: this.find('#layout').value, nodes: this.find('#nodes').value, torus: this.find('#torus').value};
    this.shown = this.panels.filter((_, i) => !this.boxes || this.boxes[i].checked);
    this.panels.forEach((panel) => { panel.box.hidden = !this.shown.includes(panel); });
    this.find('#panels').classList.toggle('several', this.shown.length > 1);
    for (const id of ['nodes', 'torus']) this.find(`#${id}`).closest('label').hidden = chosen.layout !== id;
    this.checkFits('#nodes', nodeSizes, 'sizes of nodes, like 4+4 or 4*2, that add up to the ranks');
    this.checkFits('#torus', torusShape, 'columns and rows, like 4x2, that multiply to the ranks');
    for (const panel of this.shown) panel.arrange(chosen);
    this.show(this.step);
  }

  checkFits(selector, parse, wanted) {
    const input = this.find(selector), fits = this.plans.some(({ranks}) => parse(input.value, ranks));
    input.setAttribute('aria-invalid', !fits);
    this.find(`${selector}-hint`).textContent = fits ? '' : ` ${wanted}`;
  }

  readAddress() {
    const said = new URLSearchParams(location.hash.slice(1)), most = Math.max(...this.plans.map(({ranks}) => ranks));
    const nodes = this.plans.map((plan) => plan.nodes()).find(Boolean);
    const layout = said.get('layout');
    this.find('#layout').value = LAYOUTS.includes(layout) ? layout : most > MOST_ARROW_RANKS ? 'matrix' : nodes ? 'nodes' : 'ring';
    this.find('#nodes').value = said.get('nodes') || nodes || `${most}`;
    this.find('#torus').value = said.get('torus') || this.plans[0].torus().join('x');
    const wanted = said.getAll('algorithm'), isWanted = ({name, json}) => wanted.includes(name) || wanted.includes(json.algorithm);
    const any = this.plans.some(isWanted);
    this.boxes?.forEach((box, i) => { box.checked = !any || isWanted(this.plans[i]); });
    this.step = Math.max(0, Math.min(Math.floor(Number(said.get('step'))) || 0, this.last));
  }

  writeAddress() {
    const said = new URLSearchParams({step: this.step, layout: this.find('#layout').value});
    for (const id of ['nodes', 'torus'])
      if (said.get('layout') === id) said.set(id, this.find(`#${id}`).value);
    if (this.shown.length < this.panels.length) for (const {plan} of this.shown) said.append('algorithm', plan.name);
    history.replaceState(null, '', `#${said}`);
  }
}

const page = new Page(JSON.parse(document.getElementById('plans').textContent).map((json) => new Plan(json)));
