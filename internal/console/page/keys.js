// The keyboard, and the page that shows its keys.

import { byId, make } from "./dom.js";

const KEYS = [
  ["/", "Filter the members"],
  ["↑ ↓", "Go through the members; Page Up, Page Down, Home and End too"],
  ["Enter", "Only the events of that member, and all again"],
  ["← →", "The pool before, the next pool"],
  ["1 2 3 4", "All members, those that are ejected, on probation, up"],
  ["Esc", "Back: leave the filter, then drop what was chosen"],
  ["t", "Colours: as the system has them, light, dark"],
  ["?", "These keys"],
];

/** listen calls the methods of actions: move, page, pin, pool, state, search, back, theme. */
export function listen(actions) {
  const dialog = byId("keys");
  for (const [key, text] of KEYS) {
    byId("key-list").append(make("div", {}, make("dt", {}, ...key.split(" ").map((k) => make("kbd", {}, k))), make("dd", {}, text)));
  }
  byId("help").addEventListener("click", () => dialog.showModal());
  byId("keys-close").addEventListener("click", () => dialog.close());
  dialog.addEventListener("click", (e) => e.target === dialog && dialog.close()); // beside it

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || dialog.open || event.isComposing) return;
    const typing = event.target.matches("input");
    const action = find(event, typing, actions, dialog);
    if (!action) return;
    event.preventDefault();
    action();
  });
}

function find(event, typing, actions, dialog) {
  if (event.key === "Escape") return actions.back;
  if (event.target.closest(".timeline")) return null; // it scrolls by these keys
  switch (event.key) {
    case "ArrowDown": return () => actions.move(1);
    case "ArrowUp": return () => actions.move(-1);
    case "PageDown": return () => actions.page(1);
    case "PageUp": return () => actions.page(-1);
  }
  if (typing) return null;
  switch (event.key) {
    case "/": return actions.search;
    case "?": return () => dialog.showModal();
    case "t": return actions.theme;
    case "Home": return () => actions.move(-Infinity);
    case "End": return () => actions.move(Infinity);
    case "ArrowRight": return () => actions.pool(1);
    case "ArrowLeft": return () => actions.pool(-1);
    case "1": case "2": case "3": case "4": return () => actions.state(Number(event.key) - 1);
    case "Enter": return event.target.matches("button, summary, a") ? null : actions.pin;
  }
  return null;
}
