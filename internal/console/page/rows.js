// A long list of which only what can be seen is there.

import { make } from "./dom.js";

/** SPARE is how many rows beyond the edges are ready for scrolling. */
const SPARE = 6;

/**
 * Rows shows items in a box that scrolls. It makes as many row elements as fit in, plus some spare ones, and gives them
 * other items when the box scrolls: ten thousand items cost what fifty do. All rows have one height.
 */
export class Rows {
  #box;
  #height;
  #create;
  #fill;
  #space = make("div", { class: "space", role: "presentation" });
  #rows = [];
  #items = [];
  #first = -1;

  /**
   * box is the element that scrolls, height that of a row in pixels. create makes an empty row; fill(row, item, index)
   * shows an item in it and is called again and again, so it changes only what is different.
   */
  constructor(box, height, create, fill) {
    this.#box = box;
    this.#height = height;
    this.#create = create;
    this.#fill = fill;
    box.append(this.#space);
    box.addEventListener("scroll", () => this.#place(false), { passive: true });
    new ResizeObserver(() => this.#place(true)).observe(box);
  }

  /** show takes the items, and shows their values anew. */
  show(items) {
    if (items.length !== this.#items.length) this.#space.style.height = items.length * this.#height + "px";
    this.#items = items;
    this.#place(true);
  }

  /** rendered are the pairs of rows and items that are there. */
  *rendered() {
    for (const row of this.#rows) if (!row.hidden) yield [row, this.#items[row.index]];
  }

  /** reveal scrolls as far as it must for an item to be seen, and returns its row. */
  reveal(index) {
    const head = this.#space.offsetTop;
    const top = index * this.#height;
    const room = this.#box.clientHeight - head;
    if (top < this.#box.scrollTop) this.#box.scrollTop = top;
    else if (top + this.#height > this.#box.scrollTop + room) this.#box.scrollTop = top + this.#height - room;
    this.#place(false);
    return this.#rows[index % this.#rows.length];
  }

  /** page is how many rows fit in. */
  page() {
    return Math.max(1, Math.floor((this.#box.clientHeight - this.#space.offsetTop) / this.#height));
  }

  #place(all) {
    const fit = Math.ceil(this.#box.clientHeight / this.#height) + 2 * SPARE;
    while (this.#rows.length < fit) {
      const row = this.#create();
      row.index = -1;
      row.hidden = true;
      this.#rows.push(row);
      this.#space.append(row);
      this.#first = -1;
    }
    const first = Math.max(0, Math.floor(this.#box.scrollTop / this.#height) - SPARE);
    if (!all && first === this.#first) return;
    this.#first = first;
    // An item always gets the row at its index modulo the number of rows, so that scrolling by one changes one row.
    const n = this.#rows.length;
    for (let i = first; i < first + n; i++) {
      const row = this.#rows[i % n];
      const item = this.#items[i];
      row.hidden = item === undefined;
      if (row.index !== i) {
        row.index = i;
        row.style.transform = `translateY(${i * this.#height}px)`;
      } else if (!all) continue;
      if (item !== undefined) this.#fill(row, item, i);
    }
  }
}
