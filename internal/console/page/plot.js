// Small plots of values over the last two minutes.

import { clockTime, rate } from "./format.js";
import { draw, make, setAttribute, setText } from "./dom.js";
import { SPAN } from "./series.js";

/** BREAK is the longest time in seconds between two values that are joined by a line. */
const BREAK = 12;
const [WIDTH, HEIGHT] = [600, 96];

/** path is the line through the values of a series, and the area below it, in a box of a width and a height. */
function path(timeline, series, now, top, width, height) {
  let line = "";
  let area = "";
  let [lastX, lastTime] = [NaN, NaN];
  const close = () => {
    if (!Number.isNaN(lastX)) area += `L${lastX} ${height}Z`;
  };
  for (const step of timeline.steps()) {
    const [time, value] = [timeline.time(step), series.at(step)];
    const x = Math.round((1 - (now - time) / (SPAN * 1000)) * width * 10) / 10;
    if (Number.isNaN(value) || x < 0) continue;
    const y = Math.round((1 - value / top) * (height - 2) * 10) / 10 + 1;
    if (!(time - lastTime <= BREAK * 1000)) {
      close();
      line += `M${x} ${y}`;
      area += `M${x} ${height}L${x} ${y}`;
    } else {
      line += `L${x} ${y}`;
      area += `L${x} ${y}`;
    }
    [lastX, lastTime] = [x, time];
  }
  close();
  return { line, area };
}

/** highest is the largest value that is shown. */
function highest(timeline, now, ...all) {
  let top = 0;
  for (const step of timeline.steps()) {
    if (now - timeline.time(step) > SPAN * 1000) continue;
    for (const series of all) top = Math.max(top, series.at(step) || 0);
  }
  return top;
}

/** round is the next number above that a scale can end with. */
export function round(n) {
  if (n <= 1) return 1;
  const power = 10 ** Math.floor(Math.log10(n));
  return [1, 2, 3, 4, 5, 6, 8, 10].find((m) => m * power >= n) * power;
}

/** Spark is a plot without any text, as wide as a word. */
export class Spark {
  #area = draw("path", { class: "area" });
  #line = draw("path", { class: "line" });
  element = draw("svg", { class: "spark", viewBox: "0 0 100 24", preserveAspectRatio: "none", "aria-hidden": "true" },
    this.#area, this.#line);

  show(timeline, series, now) {
    const { line, area } = path(timeline, series, now, Math.max(1, highest(timeline, now, series)), 100, 24);
    setAttribute(this.#line, "d", line);
    setAttribute(this.#area, "d", area);
  }
}

/**
 * Plot has a scale, the time below it, marks at moments, and shows the value under the pointer. Its text alternative
 * says the value of now and the highest.
 */
export class Plot {
  #title;
  #value = make("strong");
  #unit;
  #area = draw("path", { class: "area" });
  #line = draw("path", { class: "line" });
  #marks = draw("g", { class: "marks" });
  #cursor = draw("path", { class: "cursor" });
  #svg = draw("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: "none", role: "img" },
    draw("path", { class: "lines", d: `M0 1H${WIDTH}M0 ${HEIGHT / 2}H${WIDTH}M0 ${HEIGHT - 1}H${WIDTH}` }),
    this.#area, this.#marks, this.#line, this.#cursor);
  #top = make("span", { class: "top" });
  #middle = make("span", { class: "middle" });
  #note = make("span", { class: "note" });
  #shown = null;
  #pointer = NaN;

  constructor(name, title, unit) {
    this.#title = title;
    this.#unit = unit;
    this.element = make("figure", { class: "plot " + name },
      make("figcaption", {}, make("span", {}, title), this.#value, make("small", {}, unit), this.#note),
      make("div", { class: "canvas" }, this.#svg, this.#top, this.#middle,
        make("span", { class: "from" }, `${SPAN / 60} min ago`), make("span", { class: "to" }, "now")));
    this.#svg.addEventListener("pointermove", (e) => this.#point(e.offsetX / this.#svg.clientWidth));
    this.#svg.addEventListener("pointerleave", () => this.#point(NaN));
  }

  /**
   * show draws, at a time of performance.now(). marks are such times too, legend says what they are; missing says why
   * there are no values, "" where there are.
   */
  show(timeline, series, now, { marks = [], legend = "", missing = "" } = {}) {
    const most = highest(timeline, now, series);
    const top = round(most);
    const { line, area } = path(timeline, series, now, top, WIDTH, HEIGHT);
    setAttribute(this.#line, "d", line);
    setAttribute(this.#area, "d", area);
    setText(this.#top, rate(top));
    setText(this.#middle, rate(top / 2));
    const value = rate(series.latest());
    setText(this.#value, value);
    setAttribute(this.#svg, "aria-label",
      missing || `${this.#title}: ${value} ${this.#unit} now, at most ${rate(most)} in the last ${SPAN / 60} minutes`);
    let d = "";
    for (const time of marks) {
      const x = (1 - (now - time) / (SPAN * 1000)) * WIDTH;
      if (x >= 0 && x <= WIDTH) d += `M${x.toFixed(1)} 0V${HEIGHT}`;
    }
    if (this.#marks.dataset.d !== d) {
      this.#marks.dataset.d = d;
      this.#marks.replaceChildren(draw("path", { d }));
    }
    this.#shown = { timeline, series, now, note: missing || (d && "┆ " + legend) };
    this.element.classList.toggle("missing", missing !== "");
    this.#point(this.#pointer);
  }

  /** point shows the value nearest to the pointer, which is at a share of the width; NaN is outside. */
  #point(at) {
    this.#pointer = at;
    if (Number.isNaN(at) || !this.#shown) {
      setAttribute(this.#cursor, "d", "");
      setText(this.#note, this.#shown?.note ?? "");
      return;
    }
    const { timeline, series, now } = this.#shown;
    const wanted = now - (1 - at) * SPAN * 1000;
    let best = -1;
    for (const step of timeline.steps()) {
      if (Number.isNaN(series.at(step))) continue;
      if (best < 0 || Math.abs(timeline.time(step) - wanted) < Math.abs(timeline.time(best) - wanted)) best = step;
    }
    if (best < 0) return;
    const x = (1 - (now - timeline.time(best)) / (SPAN * 1000)) * WIDTH;
    setAttribute(this.#cursor, "d", `M${x.toFixed(1)} 0V${HEIGHT}`);
    setText(this.#note, `${rate(series.at(best))} at ${clockTime(new Date(performance.timeOrigin + timeline.time(best)))}`);
  }
}
