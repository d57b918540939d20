// The list of pools, and the heading with the settings of the chosen one.

import { byId, icon, make, setAttribute, setText } from "./dom.js";
import { count, health, latency, plural, rate } from "./format.js";
import { word } from "./members.js";
import { STATES } from "./model.js";
import { Plot, Spark } from "./plot.js";
import { Rows } from "./rows.js";

/** ROW is the height of a pool in the list; the style sheet says the same. */
const ROW = 66;

/** worst is the worst state among members, "none" without any. */
const worst = (counts) => STATES.find((s) => counts[s] > 0) ?? "none";

/** health line: "5 of 6 up". */
function summary(pool) {
  if (pool.size === 0) return "no members";
  return pool.counts.up === pool.size ? `${count(pool.size)} up` : `${count(pool.counts.up)} of ${count(pool.size)} up`;
}

/** Pools is the list. choose(name) is called when a pool is chosen; "" is all. */
export class Pools {
  #rows;
  #items = [];
  #view = {};

  constructor(box, choose) {
    this.#rows = new Rows(box, ROW, () => this.#create(choose), (row, pool) => this.#fill(row, pool));
  }

  show(model, chosen) {
    this.#view = { model, chosen };
    this.#items = model.pools.length > 1 ? [model, ...model.pools] : model.pools;
    setText(byId("pool-count"), count(model.pools.length));
    this.#rows.show(this.#items);
  }

  /** next is the name of the pool that is a number of places behind the given one; the ends meet. */
  next(from, by) {
    const names = this.#items.map((p) => p.name ?? "");
    const at = names.indexOf(from);
    const to = (at + by + names.length) % names.length;
    this.#rows.reveal(to);
    return names[to];
  }

  #create(choose) {
    const parts = {
      sign: make("span", { class: "sign" }), name: make("span", { class: "name" }), text: make("span", { class: "text" }),
      rate: make("span", { class: "rate" }), spark: new Spark(), state: "",
      bars: STATES.toReversed().map((s) => make("i", { class: s })),
    };
    const row = make("button", { type: "button", class: "pool", onclick: () => choose(row.parts.item.name ?? "") },
      make("span", { class: "line" }, parts.sign, parts.name, parts.rate), make("span", { class: "line" }, parts.text, parts.spark.element),
      make("span", { class: "share", "aria-hidden": "true" }, ...parts.bars));
    row.parts = parts;
    return row;
  }

  #fill(row, pool) {
    const p = row.parts;
    const { model, chosen } = this.#view;
    const name = pool.name ?? "";
    p.item = pool;
    setText(p.name, name || "All pools");
    setAttribute(row, "title", name || null);
    setText(p.text, summary(pool));
    setText(p.rate, rate(pool.requests.now()) + "/s");
    const state = worst(pool.counts);
    if (p.state !== state) {
      p.state = state;
      p.sign.replaceChildren(icon(state));
    }
    setAttribute(row, "aria-current", name === chosen ? "true" : null);
    setAttribute(row, "aria-label", `${name || "All pools"}: ${summary(pool)}` +
      STATES.filter((s) => s !== "up" && pool.counts[s]).map((s) => `, ${pool.counts[s]} ${word(s).toLowerCase()}`).join(""));
    for (const bar of p.bars) {
      bar.style.flexGrow = String(pool.counts[bar.className]);
      bar.hidden = pool.counts[bar.className] === 0;
    }
    p.spark.show(model.timeline, pool.requests.series, performance.now());
  }
}

/** Heading is what stands above the members: the settings, four numbers and two plots of a pool, or of all. */
export class Heading {
  #requests = new Plot("requests", "Requests", "a second");
  #failures = new Plot("failures", "Failed attempts", "a second");
  #tiles = new Map();

  constructor() {
    for (const name of ["Members", "In flight", "Response time", "Retries"]) {
      const value = make("dd", {}, make("strong"), make("small"));
      byId("tiles").append(make("div", {}, make("dt", {}, name), value));
      this.#tiles.set(name, value);
    }
    byId("plots").append(this.#requests.element, this.#failures.element);
  }

  /** show takes the pool, undefined for all, and the daemon's time. */
  show(model, pool, now) {
    const shown = pool ?? model;
    setText(byId("pool-name"), pool ? pool.name : "All pools");
    this.#settings(pool?.upstream);
    const others = STATES.filter((s) => s !== "up" && shown.counts[s] > 0);
    this.#tile("Members", count(shown.size),
      shown.size === 0 ? "" : others.length === 0 ? "all up" : others.map((s) => `${count(shown.counts[s])} ${word(s).toLowerCase()}`).join(", "));
    this.#tile("In flight", count(shown.inFlight), plural(shown.inFlight, "request").replace(/^\S+ /, ""));
    this.#tile("Response time", latency(shown.times.median), Number.isNaN(shown.times.tail) ? "no requests" : "99 % in " + latency(shown.times.tail));
    this.#tile("Retries", rate(shown.retries.now()), "a second");

    const at = performance.now();
    const marks = model.events.filter((e) => e.kind === "ejected" && (!pool || e.pool === pool.name)).map((e) => at - now + Date.parse(e.time));
    this.#requests.show(model.timeline, shown.requests.series, at);
    const uncounted = shown.requests.now() >= 0 && Number.isNaN(shown.failures.now());
    this.#failures.show(model.timeline, shown.failures.series, at,
      { marks, legend: "ejected", missing: uncounted ? "not counted: metrics.per_member is off" : "" });
  }

  #tile(name, value, under) {
    const [strong, small] = this.#tiles.get(name).children;
    setText(strong, value);
    setText(small, under);
  }

  #settings(upstream) {
    const list = byId("settings");
    const words = upstream ? describe(upstream) : [];
    if (list.dataset.words === words.join()) return;
    list.dataset.words = words.join();
    list.replaceChildren(...words.map((w) => make("li", {}, w)));
  }
}

/** describe is the settings of a pool in a few words each. */
function describe(u) {
  const hash = u.hash ? ` by ${u.hash.by.replace("_", " ")}${u.hash.name ? " " + u.hash.name : ""}` : "";
  return [
    u.balance + hash, u.scheme === "https" ? "HTTPS" : "HTTP", health(u.passive_health),
    u.retries === 0 ? "no retries" : "up to " + plural(u.retries, "retry").replace("retrys", "retries"),
    u.members_from === "api" ? "members from the API" : "members from the file", "revision " + u.revision,
  ];
}
