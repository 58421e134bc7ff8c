// Creates elements. Text is always a text node: server text is never parsed as HTML.

/** An element with properties and children; strings become text nodes, null is skipped. */
export function element(name, properties = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (key === "class") made.className = value;
    else if (key in made) made[key] = value;
    else made.setAttribute(key, value);
  }
  made.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return made;
}

/** A <details> whose content is created on first opening: schemas may be recursive. */
export function opening(properties, summary, inside) {
  const made = element("details", properties, element("summary", {}, summary));
  const fill = () => {
    if (made.open && made.childElementCount === 1) made.append(inside());
  };
  made.addEventListener("toggle", fill);
  return made;
}

/** Text in which `words in backticks` are code. */
export function prose(text) {
  const parts = String(text ?? "").split("`");
  return parts.map((part, place) =>
    place % 2 && place < parts.length - 1 ? element("code", {}, part) : part);
}
