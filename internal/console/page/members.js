// The table of members.

import { icon, make, setAttribute, setText } from "./dom.js";
import { count, parseDuration, rate, seconds } from "./format.js";
import { Spark } from "./plot.js";
import { Rows } from "./rows.js";

/** ROW is the height of a row; the style sheet says the same. */
const ROW = 44;

const COLUMNS = [
  ["state", "State"], ["member", "Member"], ["pool", "Pool"], ["weight", "Weight"], ["inflight", "In flight"],
  ["failures", "Failures", "Failures in a row, and how many eject the member"],
  ["requests", "Attempts/s", "Requests and retries that the member gets"], ["failed", "Failed/s", "Attempts that ended in 5xx or without an answer"],
  ["last", "Last failure"],
];

const WORDS = { up: "Up", ejected: "Ejected", probation: "Probation" };

/** word is a state in a word. */
export const word = (state) => WORDS[state] ?? state;

/**
 * Members shows members in the order given. choose(column) is called for a sort, pin(member) when a member is chosen.
 * One row is the active one: the arrow keys move it, and a screen reader reads it.
 */
export class Members {
  #box;
  #rows;
  #headers = new Map();
  #items = [];
  #active = "";
  #pinned = "";
  #timeline;
  #now = 0;
  #order = "";

  constructor(box, { choose, pin }) {
    this.#box = box;
    const head = make("div", { class: "row head", role: "row", "aria-rowindex": "1" });
    for (const [name, title, hint] of COLUMNS) {
      const cell = make("div", { class: name, role: "columnheader" });
      if (name === "last") cell.append(title);
      else cell.append(make("button", { type: "button", title: hint ?? "Sort by " + title.toLowerCase(), tabIndex: -1, onclick: () => choose(name) }, title));
      this.#headers.set(name, cell);
      head.append(cell);
    }
    box.append(head);
    this.#rows = new Rows(box, ROW, () => this.#create(), (row, member, index) => this.#fill(row, member, index));
    box.addEventListener("click", (e) => {
      const row = e.target.closest(".row:not(.head)");
      if (!row) return;
      this.#activate(row.index);
      pin(this.#items[row.index]);
    });
  }

  /** show takes the members, what the plots are drawn by, the daemon's time, and how they were chosen and sorted. */
  show(members, timeline, now, choice) {
    this.#items = members;
    this.#timeline = timeline;
    this.#now = now;
    this.#pinned = choice.pinned;
    for (const [name, cell] of this.#headers) {
      const sorted = choice.sort === name ? (choice.reversed ? "descending" : "ascending") : "none";
      if (name !== "last") setAttribute(cell, "aria-sort", sorted);
    }
    this.#box.classList.toggle("one-pool", choice.pool !== "");
    setAttribute(this.#box, "aria-rowcount", String(members.length + 1));
    const order = [choice.pool, choice.state, choice.text, choice.sort, choice.reversed].join("\n");
    if (order !== this.#order) this.#box.scrollTop = 0; // another list begins at its beginning
    this.#order = order;
    this.#rows.show(members);
    this.#point();
  }

  /** tick moves the countdowns on. */
  tick(now) {
    this.#now = now;
    for (const [row, member] of this.#rows.rendered()) if (member?.state === "ejected") this.#countDown(row, member);
  }

  /** move moves the active row by a number of rows; ±Infinity is the end. page is how many rows fit in. */
  move(by) {
    if (this.#items.length === 0) return;
    const at = this.#items.findIndex((m) => m.id === this.#active);
    const enter = by === -Infinity || (by > 0 && by < Infinity) ? 0 : this.#items.length - 1;
    const to = at < 0 ? enter : at + by;
    this.#activate(Math.max(0, Math.min(this.#items.length - 1, to)));
  }

  get page() {
    return this.#rows.page();
  }

  /** active is the member of the active row. */
  get active() {
    return this.#items.find((m) => m.id === this.#active);
  }

  #activate(index) {
    this.#active = this.#items[index].id;
    this.#rows.reveal(index);
    this.#rows.show(this.#items);
    this.#point();
    this.#box.focus({ preventScroll: true });
  }

  /** #point tells screen readers which row is the active one. */
  #point() {
    const at = this.#items.findIndex((m) => m.id === this.#active);
    let id = null;
    for (const [row] of this.#rows.rendered()) if (row.index === at) id = row.id;
    setAttribute(this.#box, "aria-activedescendant", id);
  }

  #create() {
    const cell = (name, ...children) => make("div", { class: name, role: "gridcell" }, ...children);
    const parts = {
      word: make("span", { class: "word" }), left: make("span", { class: "left" }), bar: make("i", { class: "bar", "aria-hidden": "true" }),
      address: make("span", { class: "address" }), inPool: make("span", { class: "in" }), why: make("span", { class: "why" }), pool: make("span"),
      weight: make("span"), inFlight: make("span"), failed: make("span"), limit: make("small"),
      requests: make("span"), failures: make("span"), last: make("code"), spark: new Spark(), state: "",
    };
    const row = make("div", { class: "row", role: "row", id: "row-" + Math.random().toString(36).slice(2) },
      cell("state", make("span", { class: "sign" }), parts.word, parts.left, parts.bar), cell("member", parts.address, make("span", { class: "under" }, parts.inPool, parts.why)),
      cell("pool", parts.pool), cell("weight", parts.weight), cell("inflight", parts.inFlight), cell("failures", parts.failed, parts.limit),
      cell("requests", parts.spark.element, parts.requests), cell("failed", parts.failures), cell("last", parts.last));
    row.parts = parts;
    return row;
  }

  #fill(row, member, index) {
    const p = row.parts;
    setAttribute(row, "aria-rowindex", String(index + 2));
    setAttribute(row, "aria-selected", String(member.id === this.#pinned));
    row.classList.toggle("active", member.id === this.#active);
    if (p.state !== member.state) {
      row.classList.remove("up", "ejected", "probation");
      row.classList.add(member.state);
      row.querySelector(".sign").replaceChildren(icon(member.state));
      p.state = member.state;
      setText(p.word, word(member.state));
    }
    setText(p.address, member.address);
    setAttribute(p.address, "title", member.address);
    setText(p.inPool, member.pool.name);
    setText(p.why, member.lastFailure);
    setText(p.pool, member.pool.name);
    setText(p.weight, count(member.weight));
    setText(p.inFlight, count(member.inFlight));
    setText(p.failed, count(member.failed));
    const limit = member.pool.upstream.passive_health.failures;
    setText(p.limit, limit > 0 ? `/${limit}` : "");
    row.classList.toggle("failing", member.failed > 0);
    const failures = member.failures.now();
    setText(p.requests, rate(member.requests.now()));
    setText(p.failures, rate(failures));
    row.classList.toggle("losing", failures > 0);
    setText(p.last, member.lastFailure || "–");
    p.spark.show(this.#timeline, member.requests.series, performance.now());
    this.#countDown(row, member);
  }

  /** #countDown shows how long an ejection still lasts, in a number and in a bar that empties. */
  #countDown(row, member) {
    const p = row.parts;
    if (member.state !== "ejected") {
      setText(p.left, member.state === "probation" ? "next request decides" : "");
      return;
    }
    const left = (member.until - this.#now) / 1000;
    setText(p.left, seconds(left));
    const whole = parseDuration(member.pool.upstream.passive_health.cooldown);
    p.bar.style.transform = `scaleX(${Math.max(0, Math.min(1, left / whole)).toFixed(3)})`;
  }
}
