// The timeline of events, the newest first.

import { byId, icon, make, setText } from "./dom.js";
import { clockTime, count, millis, plural, seconds } from "./format.js";

/** SHOWN is how many events are in the page at once. */
const SHOWN = 200;

const KINDS = {
  ejected: ["ejected", "ejected"], probation: ["probation", "on probation"], recovered: ["up", "back in rotation"],
  member_added: ["added", "added"], member_removed: ["removed", "removed"], member_reweighted: ["changed", "reweighted"],
  pool_added: ["added", "pool added"], pool_removed: ["removed", "pool removed"], pool_rebuilt: ["changed", "pool rebuilt, it begins anew"],
  reload: ["changed", "configuration reloaded"], gap: ["gap", "events are missing here"],
};

/** Timeline shows the events of all, of a pool, or of the pinned member. */
export class Timeline {
  #box;
  #entries = new Map(); // by event, so that what a user has opened stays open
  #shown = "";
  #began = performance.now();

  constructor(box) {
    this.#box = box;
  }

  show(model, choice) {
    const state = [model.version, choice.pool, choice.pinned].join("\n");
    if (state === this.#shown) return;
    this.#shown = state;
    const [pinnedPool, pinnedMember] = choice.pinned.split("\n");
    const pool = choice.pinned ? pinnedPool : choice.pool;
    const concerned = model.events.filter((e) => (!pool || !e.pool || e.pool === pool) && (!pinnedMember || !e.member || e.member === pinnedMember));
    const entries = [];
    const kept = new Map();
    for (const e of concerned.slice(-SHOWN).reverse()) {
      const entry = this.#entries.get(e) ?? this.#create(e);
      kept.set(e, entry);
      entries.push(entry);
    }
    if (concerned.length > SHOWN) entries.push(make("li", { class: "more" }, `${plural(concerned.length - SHOWN, "older event")} not shown`));
    if (concerned.length === 0) entries.push(make("li", { class: "more" }, "Nothing has happened yet."));
    this.#entries = kept;
    // Only what is new is put in: an element that is moved would lose the focus inside, and be read out again.
    for (const old of [...this.#box.children]) if (!entries.includes(old)) old.remove();
    entries.forEach((entry, i) => {
      if (this.#box.children[i] !== entry) this.#box.insertBefore(entry, this.#box.children[i] ?? null);
    });
    setText(byId("event-count"), count(concerned.length));
    const unpin = byId("unpin");
    unpin.hidden = !choice.pinned;
    setText(unpin, pinnedMember ? `only ${pinnedMember} ✕` : "");
    unpin.setAttribute("aria-label", `Only events of ${pinnedMember}; show all again`);
  }

  #create(event) {
    const [sign, text] = KINDS[event.kind] ?? ["changed", event.kind.replaceAll("_", " ")];
    const time = event.time ? new Date(event.time) : null;
    const entry = make("li", { class: "event " + event.kind },
      make("span", { class: "sign " + sign }, icon(sign)),
      make("div", { class: "what" },
        make("p", {}, ...(event.member ? [make("b", {}, event.member), " "] : []), text + more(event)),
        make("p", { class: "where" }, [event.pool && "pool " + event.pool, event.actor && event.actor !== "health" && "by " + event.actor].filter(Boolean).join(" · "))),
      time ? make("time", { dateTime: event.time, title: time.toString() }, clockTime(time)) : make("time", {}, ""));
    if (event.evidence?.length) entry.append(evidence(event));
    // What came with the page is no news, nor is what another choice shows again.
    if (event.arrived - this.#began > 5000 && performance.now() - event.arrived < 1000) {
      entry.classList.add("fresh");
      entry.addEventListener("animationend", () => entry.classList.remove("fresh"), { once: true });
    }
    return entry;
  }
}

/** more is what else there is to say about an event. */
function more(event) {
  if (event.kind === "ejected" && event.until) {
    return " for " + seconds((Date.parse(event.until) - Date.parse(event.time)) / 1000).replace(".0 s", " s");
  }
  if (event.kind === "member_reweighted") return ` from ${event.from} to ${event.to}`;
  return "";
}

/** evidence is the failures that led to an ejection: their causes at a glance, each of them on request. */
function evidence(event) {
  const causes = new Map();
  for (const e of event.evidence) causes.set(e.cause, (causes.get(e.cause) ?? 0) + 1);
  return make("details", {},
    make("summary", {}, ...[...causes].map(([cause, n]) => make("code", {}, n > 1 ? `${n} × ${cause}` : cause))),
    make("ol", {}, ...event.evidence.map((e) =>
      make("li", {}, make("time", { dateTime: e.time }, millis(new Date(e.time))), make("code", {}, e.cause), ...(e.detail ? [make("span", {}, e.detail)] : [])))));
}
