// Light and dark. The system decides unless the user does; the choice is kept by the browser where it keeps any.

import { byId, setAttribute } from "./dom.js";

const THEMES = { auto: "Colours: as the system", light: "Colours: light", dark: "Colours: dark" };
const KEY = "scalws-theme";

export class Theme {
  #name = "auto";

  constructor() {
    try {
      this.#name = localStorage.getItem(KEY) ?? "auto";
    } catch {
      // Storage is forbidden: the choice lasts as long as the page.
    }
    if (!Object.hasOwn(THEMES, this.#name)) this.#name = "auto";
    this.#apply();
    byId("theme").addEventListener("click", () => this.next());
  }

  /** next is the next one of the three. */
  next() {
    const names = Object.keys(THEMES);
    this.#name = names[(names.indexOf(this.#name) + 1) % names.length];
    try {
      localStorage.setItem(KEY, this.#name);
    } catch {
      // As above.
    }
    this.#apply();
  }

  #apply() {
    document.documentElement.dataset.theme = this.#name;
    const button = byId("theme");
    button.querySelector("use").setAttribute("href", "#i-" + this.#name);
    setAttribute(button, "aria-label", THEMES[this.#name]);
    setAttribute(button, "title", THEMES[this.#name] + " (t)");
  }
}
