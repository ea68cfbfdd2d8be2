// SPDX-License-Identifier: Apache-2.0
// Elements of the page, and matrices whose cells are read by pointer or keyboard.
'use strict';

/** html('button', {type: 'button'}, 'Play'): children are elements or text. */
function html(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

/** The same in a picture. Children that are text become its text. */
function svg(name, attributes = {}, ...children) {
  const made = document.createElementNS('http://www.w3.org/2000/svg', name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

/** A point or size as it stands in a picture: a tenth of a pixel is enough. */
function short(number) {
  return Math.round(number * 10) / 10;
}

function table(caption, heads, rows) {
  const head = html('tr', {}, ...heads.map((text) => html('th', {scope: 'col'}, text)));
  const body = rows.map((row) => html('tr', {}, ...row.map((text) => html('td', {}, `${text}`))));
  return html('table', {}, html('caption', {}, caption), html('thead', {}, head), html('tbody', {}, ...body));
}

/**
 * A matrix of ranks by something. All cells of one class are one path, so that 256 × 256 of them are quick to draw.
 * `describe(row, column)` says what is in a cell: shown below for the cell under the pointer, or, while the matrix has
 * the keyboard's focus, for the one that the arrow keys have moved to.
 */
class Matrix {
  constructor({rows, columns, rowName, columnName, label, describe}) {
    Object.assign(this, {rows, columns, describe});
    this.cell = Math.min(28, 420 / Math.max(rows, columns));
    this.left = 34;
    this.top = 22;
    this.width = this.left + columns * this.cell;
    this.height = this.top + rows * this.cell;
    this.cells = svg('g');
    this.beside = svg('g');
    this.mark = svg('rect', {class: 'mark', width: short(this.cell), height: short(this.cell), visibility: 'hidden'});
    this.picture = svg('svg', {'aria-hidden': 'true'}, this.heads(rowName, columnName), this.cells, this.beside, this.mark);
    this.resize(this.width);
    this.readout = html('p', {class: 'readout', 'aria-live': 'polite'});
    this.box = html('div', {class: 'matrix', tabindex: '0', role: 'group', 'aria-label': `${label}; arrow keys move between cells`},
                    this.picture);
    this.at = [0, 0];
    this.listen();
  }

  resize(width) {
    this.picture.setAttribute('viewBox', `0 0 ${short(width + 1)} ${short(this.height + 1)}`);
    this.picture.style.maxWidth = `${Math.ceil(width * 1.2)}px`;
  }

  heads(rowName, columnName) {
    const group = svg('g', {class: 'heads'});
    const every = (count) => Math.ceil(count * 14 / (count * this.cell));
    group.append(svg('text', {x: 0, y: 9}, `${rowName} \\ ${columnName}`));
    for (let row = 0; row < this.rows; row += every(this.rows))
      group.append(svg('text', {x: this.left - 4, y: short(this.top + (row + 0.5) * this.cell + 3), 'text-anchor': 'end'}, `${row}`));
    for (let column = 0; column < this.columns; column += every(this.columns))
      group.append(svg('text', {x: short(this.left + (column + 0.5) * this.cell), y: this.top - 3, 'text-anchor': 'middle'}, `${column}`));
    return group;
  }

  /** classOf(row, column) is {name, style} of a cell, by equal `name` the same, or null for an empty one. */
  draw(classOf) {
    const paths = new Map(), size = short(this.cell * (this.cell > 5 ? 0.9 : 1));
    for (let row = 0; row < this.rows; row++) {
      for (let column = 0; column < this.columns; column++) {
        const kind = classOf(row, column);
        if (!kind) continue;
        if (!paths.has(kind.name)) paths.set(kind.name, {kind, count: 0, d: ''});
        const path = paths.get(kind.name);
        path.count++;
        path.d += `M${short(this.left + column * this.cell)} ${short(this.top + row * this.cell)}h${size}v${size}h${-size}z`;
      }
    }
    this.cells.replaceChildren(...[...paths.values()].map(({kind, count, d}) =>
      svg('path', {class: kind.name, style: kind.style || '', 'data-cells': count, d})));
    if (this.readout.textContent) this.show(...this.at);
  }

  show(row, column) {
    this.at = [row, column];
    this.mark.setAttribute('x', short(this.left + column * this.cell));
    this.mark.setAttribute('y', short(this.top + row * this.cell));
    this.mark.setAttribute('visibility', 'visible');
    this.readout.textContent = this.describe(row, column);
  }

  hide() {
    this.mark.setAttribute('visibility', 'hidden');
    this.readout.textContent = '';
  }

  listen() {
    const isFocused = () => document.activeElement === this.box;
    const look = (event) => {
      const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(this.picture.getScreenCTM().inverse());
      const row = Math.floor((at.y - this.top) / this.cell), column = Math.floor((at.x - this.left) / this.cell);
      if (row >= 0 && row < this.rows && column >= 0 && column < this.columns) this.show(row, column);
    };
    this.picture.addEventListener('pointermove', look);
    this.picture.addEventListener('pointerdown', look);  // a finger does not move before it leaves
    this.picture.addEventListener('pointerleave', ({pointerType}) => pointerType !== 'mouse' || isFocused() || this.hide());
    this.box.addEventListener('focus', () => this.show(...this.at));
    this.box.addEventListener('blur', () => this.hide());
    this.box.addEventListener('keydown', (event) => {
      const move = {ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1]}[event.key];
      if (!move || event.altKey || event.ctrlKey || event.metaKey) return;
      event.preventDefault();
      event.stopPropagation();
      const within = (value, count) => Math.max(0, Math.min(value, count - 1));
      this.show(within(this.at[0] + move[0], this.rows), within(this.at[1] + move[1], this.columns));
    });
  }
}
