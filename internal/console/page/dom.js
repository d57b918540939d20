// Making and changing elements. Text only ever becomes text: nothing that the daemon says is read as markup.

const SVG = "http://www.w3.org/2000/svg";

/** byId is an element of index.html. */
export const byId = (id) => document.getElementById(id);

/**
 * make is a new element. Properties named "class", "role", "id" and those with a dash are attributes, all others
 * are set on the element; a property that is undefined is left out.
 */
export function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined) continue;
    if (name === "class") element.className = value;
    else if (name === "role" || name.includes("-")) element.setAttribute(name, value);
    else element[name] = value;
  }
  element.append(...children);
  return element;
}

/** draw is a new SVG element with attributes. */
export function draw(tag, attributes = {}, ...children) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

/** icon is one of the symbols of index.html. It says nothing to a screen reader: a word always stands beside it. */
export const icon = (name) =>
  draw("svg", { class: "icon " + name, "aria-hidden": "true" }, draw("use", { href: "#i-" + name }));

/** setText changes the text of an element if it is another one, which spares the browser most of its work. */
export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/** setAttribute is setText for an attribute; null removes it. */
export function setAttribute(element, name, value) {
  if (value === null) element.removeAttribute(name);
  else if (element.getAttribute(name) !== value) element.setAttribute(name, value);
}
