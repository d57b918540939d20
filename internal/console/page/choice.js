// Which members are shown, and in which order. The choice is in the address of the page behind "#", so that it
// survives a reload and can be passed on.

import { STATES } from "./model.js";

const KEYS = {
  state: (m) => STATES.indexOf(m.state),
  member: null, // by its text
  pool: null,
  weight: (m) => -m.weight,
  inflight: (m) => -m.inFlight,
  failures: (m) => -m.failed,
  requests: (m) => -(m.requests.now() || 0),
  failed: (m) => -(m.failures.now() || 0),
};

/** Choice is what the user wants to see. Empty fields are no restriction. */
export class Choice {
  pool = "";
  state = "";
  text = "";
  sort = "";
  reversed = false;
  /** pinned is the id of the member whose events are shown. */
  pinned = "";

  /** read takes the choice out of the part behind "#". */
  read(hash) {
    const p = new URLSearchParams(hash.replace(/^#/, ""));
    this.pool = p.get("pool") ?? "";
    this.state = STATES.includes(p.get("state")) ? p.get("state") : "";
    this.text = p.get("text") ?? "";
    const sort = p.get("sort") ?? "";
    this.reversed = sort.startsWith("-");
    this.sort = Object.hasOwn(KEYS, sort.replace("-", "")) ? sort.replace("-", "") : "";
  }

  /** write is the part behind "#"; empty without a choice. */
  write() {
    const p = new URLSearchParams();
    for (const name of ["pool", "state", "text"]) if (this[name]) p.set(name, this[name]);
    if (this.sort) p.set("sort", (this.reversed ? "-" : "") + this.sort);
    return p.size ? "#" + p : "";
  }

  /** sortBy sorts by a column: the first time its way, the second time the other way, the third time not. */
  sortBy(column) {
    if (this.sort !== column) [this.sort, this.reversed] = [column, false];
    else if (!this.reversed) this.reversed = true;
    else [this.sort, this.reversed] = ["", false];
  }

  /** members are those of the chosen pool, or of all. */
  members(model) {
    const pool = this.pool && model.pool(this.pool);
    return pool ? pool.members : model.pools.flatMap((p) => p.members);
  }

  /** apply leaves out and sorts. Members that are equal stay in the order of their list. */
  apply(members) {
    const words = this.text.toLowerCase().split(/\s+/).filter(Boolean);
    const shown = members.filter((m) => {
      if (this.state && m.state !== this.state) return false;
      if (words.length === 0) return true;
      m.text ??= `${m.pool.name} ${m.address}`.toLowerCase();
      return words.every((w) => m.text.includes(w) || m.lastFailure.includes(w));
    });
    if (!this.sort) return shown;
    const way = this.reversed ? -1 : 1;
    const key = KEYS[this.sort];
    if (key) {
      // Each key is computed once, and not for each comparison.
      const keyed = shown.map((m) => [key(m), m]);
      return keyed.sort((a, b) => way * (a[0] - b[0])).map((k) => k[1]);
    }
    const text = this.sort === "pool" ? (m) => m.pool.name : (m) => m.address;
    const order = new Intl.Collator("en", { numeric: true });
    return shown.sort((a, b) => way * order.compare(text(a), text(b)));
  }
}
