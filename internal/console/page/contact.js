// Whether the daemon answers, and what the page says when it does not.

import { byId, setText } from "./dom.js";
import { age, clockTime } from "./format.js";

/** LONGEST is the longest pause in milliseconds before the daemon is asked again. */
const LONGEST = 5000;

/** Contact is the banner, the sign of the live stream, and the pause until the next try. */
export class Contact {
  #lost = 0; // when the first answer was missing, by the browser's clock
  #tries = 0;
  #next = 0;
  #stream = null;
  #reason = "";
  #wake = () => {};

  constructor() {
    byId("retry").addEventListener("click", () => this.#wake());
  }

  get isLost() {
    return this.#lost > 0;
  }

  /** made is called after an answer. It reports whether the daemon had been gone. */
  made() {
    const was = this.isLost;
    [this.#lost, this.#tries] = [0, 0];
    this.show();
    return was;
  }

  /** missed is called after no answer, or a refusal, with its error. It returns how long to wait. */
  missed(error) {
    if (!this.isLost) this.#lost = Date.now();
    this.#tries++;
    const pause = Math.min(LONGEST, 500 * 2 ** this.#tries);
    this.#next = Date.now() + pause;
    const denied = error.status === 401 || error.status === 403;
    setText(byId("banner-title"), denied ? "This page is not let in:" : "scalwsd does not answer.");
    this.#reason = denied
      ? `${error.message}. Behind scalwsctl console: open the URL that it printed; it changes with each start.`
      : "";
    this.show();
    return pause;
  }

  /** stream is called when the stream of events stands, and when it has ended. */
  stream(stands) {
    this.#stream = stands;
    this.show();
  }

  /** pause waits, or until the user wants to go on. */
  pause(milliseconds) {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, milliseconds);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  /** hurry ends a pause. */
  hurry() {
    this.#wake();
  }

  /** show brings the banner up to date; it is called every now and then, for the seconds in it. */
  show() {
    const live = byId("live");
    const [name, text] = this.isLost ? ["lost", "No contact"] : this.#stream ? ["on", "Live"] : ["off", this.#stream === null ? "Connecting" : "Numbers only"];
    live.dataset.state = name;
    setText(live.querySelector("span"), text);
    const banner = byId("banner");
    banner.hidden = !this.isLost;
    document.body.classList.toggle("lost", this.isLost);
    if (!this.isLost) return;
    const since = new Date(this.#lost);
    setText(byId("banner-text"), this.#reason || `Since ${clockTime(since)}: what is below is from then.`);
    const left = Math.max(0, Math.ceil((this.#next - Date.now()) / 1000));
    setText(byId("banner-retry"), `${age((Date.now() - this.#lost) / 1000)} · ${left > 0 ? `next try in ${left} s` : "trying"}`);
  }
}
