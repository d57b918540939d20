// The console: reads the API once a second, follows the events, and shows it all.
//
// Everything that changes goes the same way: an answer or a key changes the model or the choice and asks for a
// drawing, which happens once for each frame of the screen and reads nothing but these two.

import { Api } from "./api.js";
import { Choice } from "./choice.js";
import { Clock } from "./clock.js";
import { Contact } from "./contact.js";
import { byId, icon, make, setAttribute, setText } from "./dom.js";
import { Timeline } from "./events.js";
import { age, count, plural } from "./format.js";
import { listen } from "./keys.js";
import { Members, word } from "./members.js";
import { Model, STATES } from "./model.js";
import { Heading, Pools } from "./pools.js";
import { Theme } from "./theme.js";

/** INTERVAL is the time between two readings in milliseconds; each takes at most a quarter of the time, however large. */
const INTERVAL = 1000;
/** TICK is the time between two steps of a countdown. */
const TICK = 200;

const clock = new Clock();
const model = new Model();
const choice = new Choice();
const contact = new Contact();
const theme = new Theme();
const api = new Api(token(), clock);
choice.read(location.hash);

const members = new Members(byId("members"), { choose: (c) => change(() => choice.sortBy(c)), pin });
const pools = new Pools(byId("pools"), (name) => change(() => choosePool(name)));
const heading = new Heading();
const timeline = new Timeline(byId("timeline"));
const chips = ["", ...STATES].map((state) => {
  const n = make("b");
  const chip = make("button", { type: "button", class: "chip " + state, onclick: () => change(() => (choice.state = state)) },
    ...(state ? [icon(state)] : []), make("span", {}, state ? word(state) : "All"), n);
  byId("states").append(chip);
  return { state, chip, n };
});

/**
 * token takes the token out of the address, where scalwsctl put it, and keeps it for reloads of this tab. It is in no
 * cookie, since those of one port are sent to every other port of the same host.
 */
function token() {
  const hash = new URLSearchParams(location.hash.slice(1));
  const given = hash.get("token");
  try {
    if (!given) return sessionStorage.getItem("token") ?? "";
    sessionStorage.setItem("token", given);
  } catch {
    // Storage is forbidden: a reload needs the whole address again.
  }
  hash.delete("token");
  history.replaceState(null, "", location.pathname + (hash.size ? "#" + hash : ""));
  return given ?? "";
}

/** change changes the choice, notes it in the address and draws. */
function change(how) {
  how();
  history.replaceState(null, "", location.pathname + choice.write());
  draw();
}

function choosePool(name) {
  choice.pool = name;
  choice.pinned = "";
}

/** pin shows only the events of a member, or all again. */
function pin(member) {
  if (member) change(() => (choice.pinned = choice.pinned === member.id ? "" : member.id));
}

let drawing = false;

function draw() {
  if (drawing) return;
  drawing = true;
  requestAnimationFrame(() => {
    drawing = false;
    show();
  });
}

function show() {
  const loaded = model.status !== null;
  document.body.classList.toggle("loading", !loaded);
  if (!loaded) return;
  const now = clock.now();
  if (choice.pool && !model.pool(choice.pool)) choosePool(""); // it is gone, or the address is an old one
  if (model.pools.length === 1) choice.pool = model.pools[0].name;
  const all = choice.members(model);
  const shown = choice.apply(all);
  pools.show(model, choice.pool);
  heading.show(model, model.pool(choice.pool), now);
  members.show(shown, model.timeline, now, choice);
  timeline.show(model, choice);
  showProcess(now);
  showChips(all, shown);
  showEmpty(all, shown);
  if (byId("search").value !== choice.text) byId("search").value = choice.text;
}

function showProcess(now) {
  const s = model.status;
  const refused = s.last_reload?.success === false;
  const fields = [
    ["State", s.draining ? "draining" : "serving"], ["Version", s.version], ["Process", String(s.pid)],
    ["Up for", age((now - Date.parse(s.started)) / 1000)],
    ["Configuration", s.config.source + (refused ? ", the last reload was refused" : "")],
  ];
  const list = byId("process");
  if (list.children.length === 0) list.append(...fields.map(([name]) => make("div", {}, make("dt", {}, name), make("dd"))));
  fields.forEach(([, value], i) => setText(list.children[i].lastChild, value));
  list.firstChild.classList.toggle("warn", Boolean(s.draining));
  list.lastChild.classList.toggle("warn", refused);
  setAttribute(list.lastChild, "title", refused ? s.last_reload.error : null);
  document.title = (model.counts.ejected ? `(${model.counts.ejected} ejected) ` : "") + "Upstreams - ScalWS";
}

function showChips(all, shown) {
  const counts = { "": all.length };
  for (const m of all) counts[m.state] = (counts[m.state] ?? 0) + 1;
  for (const { state, chip, n } of chips) {
    setText(n, count(counts[state] ?? 0));
    setAttribute(chip, "aria-pressed", String(choice.state === state));
  }
  setText(byId("member-count"), shown.length === all.length ? plural(all.length, "member") : `${count(shown.length)} of ${plural(all.length, "member")}`);
}

/** showEmpty says why there is nothing to see where there is nothing. */
function showEmpty(all, shown) {
  const blank = byId("blank");
  blank.hidden = model.pools.length > 0;
  byId("columns").hidden = model.pools.length === 0;
  const [, title, text] = blank.children;
  setText(title, "There are no pools");
  setText(text, "Pools are defined in the upstreams section of the configuration. After a reload they are here.");

  const empty = byId("empty");
  empty.hidden = shown.length > 0;
  byId("members").hidden = shown.length === 0;
  const pool = model.pool(choice.pool);
  if (all.length > 0) {
    setText(empty.firstChild, "No member is like that");
    setText(empty.lastChild, "The filter leaves out all of them. Press Esc in it to drop it.");
  } else if (pool) {
    setText(empty.firstChild, `${pool.name} has no members`);
    setText(empty.lastChild, "It answers every request with 503. " + (pool.upstream.members_from === "api"
      ? `Give it members: scalwsctl upstreams set ${pool.name} ADDRESS...` : "Give it members in the configuration and reload."));
  } else {
    setText(empty.firstChild, "No pool has members");
    setText(empty.lastChild, "Every request is answered with 503.");
  }
}

let measured = -Infinity; // when the metrics were read last

/** measure reads the metrics, if that was not just now: rates over an instant would be made of noise. */
async function measure() {
  const sent = performance.now();
  if (sent - measured < INTERVAL * 0.8) return null;
  const text = await api.text("metrics");
  measured = (sent + performance.now()) / 2;
  return text;
}

/** read asks for everything once. Without metrics there are still members; without members there is nothing. */
async function read() {
  const [upstreams, status, metrics] = await Promise.allSettled([api.json("v1/upstreams"), api.json("v1/status"), measure()]);
  for (const answer of [upstreams, status]) if (answer.status === "rejected") throw answer.reason;
  model.takeUpstreams(upstreams.value);
  model.takeStatus(status.value);
  if (metrics.value) model.takeMetrics(metrics.value, measured);
}

let earliest = 0; // when the next reading may begin, also if something has happened

async function poll() {
  for (;;) {
    let pause;
    const began = performance.now();
    try {
      await read();
      contact.made();
      const took = performance.now() - began;
      pause = Math.max(INTERVAL - took, 3 * took);
      earliest = performance.now() + 3 * took;
    } catch (error) {
      if (!(error instanceof TypeError) && error.status === undefined && error.name !== "TimeoutError") console.error(error);
      pause = contact.missed(error);
    }
    draw();
    // A page that nobody sees asks no more until it is seen again.
    while (document.hidden) await new Promise((seen) => document.addEventListener("visibilitychange", seen, { once: true }));
    await contact.pause(pause);
  }
}

let due = false;

/** takeEvent notes an event. What it changed is read at once, but for a burst of events only once. */
function takeEvent(event) {
  model.takeEvent(event);
  draw();
  if (due || contact.isLost) return;
  due = true;
  setTimeout(() => {
    due = false;
    contact.hurry();
  }, Math.max(100, earliest - performance.now()));
}

byId("search").addEventListener("input", (e) => change(() => (choice.text = e.target.value)));
byId("unpin").addEventListener("click", () => change(() => (choice.pinned = "")));
addEventListener("hashchange", () => {
  choice.read(location.hash);
  draw();
});
listen({
  move: (by) => members.move(by),
  page: (by) => members.move(by * members.page),
  pin: () => pin(members.active),
  pool: (by) => change(() => choosePool(pools.next(choice.pool, by))),
  state: (i) => change(() => (choice.state = chips[i].state)),
  search: () => byId("search").select(),
  theme: () => theme.next(),
  back: () => {
    const search = byId("search");
    if (document.activeElement === search && !choice.text) search.blur();
    else if (choice.text) change(() => (choice.text = ""));
    else if (choice.pinned) change(() => (choice.pinned = ""));
    else if (choice.state) change(() => (choice.state = ""));
    else document.activeElement?.blur();
  },
});
setInterval(() => {
  if (contact.isLost) contact.show();
  else if (model.counts.ejected > 0) members.tick(clock.now());
}, TICK);
poll();
api.follow(takeEvent, (stands) => contact.stream(stands));
