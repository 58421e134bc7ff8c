// The API page: loads the document, lists and searches the operations, opens the linked one.

import { element, opening, prose } from "./elements.js";
import { limits, resolve, tree, typeOf } from "./schema.js";
import { trial } from "./trial.js";

const DOCUMENT = "/v1/openapi.json";
const METHODS = ["get", "post", "put", "patch", "delete"];

const place = (id) => document.getElementById(id);

/** The operations of a document, each with its path, method and all its parameters. */
function operationsOf(described) {
  return Object.entries(described.paths ?? {}).flatMap(([path, item]) =>
    METHODS.filter((method) => item[method]).map((method) => ({
      ...item[method],
      path,
      method,
      operationId: item[method].operationId ?? `${method} ${path}`,
      parameters: [...(item.parameters ?? []), ...(item[method].parameters ?? [])]
        .map((parameter) => resolve(described, parameter)),
    })));
}

function section(described, tag, operations) {
  const about = (described.tags ?? []).find((each) => each.name === tag)?.description;
  return element("section", {},
    element("h2", {}, tag),
    about ? element("p", { class: "faint" }, about) : null,
    operations.map((operation) => entry(described, operation)));
}

function entry(described, operation) {
  const head = [
    element("span", { class: `method ${operation.method}` }, operation.method.toUpperCase()),
    element("span", { class: "path" }, operation.path),
    element("span", { class: "summary" }, operation.summary ?? ""),
  ];
  const properties = { class: "operation", id: operation.operationId };
  const made = opening(properties, head, () => inside(described, operation));
  made.dataset.words = [operation.method, operation.path, operation.operationId,
    operation.summary, operation.description, ...(operation.tags ?? [])].join(" ").toLowerCase();
  made.addEventListener("toggle", () => {
    if (made.open) history.replaceState(null, "", `#${encodeURIComponent(made.id)}`);
  });
  return made;
}

function inside(described, operation) {
  return element("div", { class: "inside" },
    operation.description ? element("p", {}, prose(operation.description)) : null,
    operation.deprecated ? element("p", { class: "bad" }, "Deprecated.") : null,
    parameters(described, operation.parameters),
    bodies(described, "Body", operation.requestBody?.content),
    answers(described, operation.responses ?? {}),
    trial(described, operation, () => place("key").value.trim()));
}

function parameters(described, list) {
  if (!list.length) return null;
  return element("div", {}, element("h3", {}, "Parameters"),
    element("ul", { class: "schema" }, list.map((each) => element("li", {},
      element("span", { class: "name" }, each.name),
      ` ${typeOf(described, each.schema)}, in the ${each.in}`,
      each.required ? element("span", { class: "required" }, " required") : null,
      limits(described, each.schema),
      element("div", { class: "faint" }, prose(each.description))))));
}

function bodies(described, title, content) {
  const shapes = Object.entries(content ?? {});
  if (!shapes.length) return null;
  return element("div", {}, shapes.map(([type, { schema }]) => [
    element("h3", {}, title, element("span", { class: "faint" }, ` ${type}`)),
    tree(described, schema),
  ]).flat());
}

function answers(described, responses) {
  const list = Object.entries(responses).map(([status, given]) => {
    const response = resolve(described, given);
    const sort = status.startsWith("2") ? "good" : "bad";
    const line = [element("strong", { class: sort }, status), ` ${response.description ?? ""}`];
    if (!response.content) return element("li", {}, line);
    return element("li", {}, opening({}, line, () => bodies(described, "Response", response.content)));
  });
  return element("div", {}, element("h3", {}, "Responses"), element("ul", { class: "schema" }, list));
}

/** Hide operations that do not contain all search words. */
function search(text) {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  for (const group of document.querySelectorAll("main section")) {
    const entries = [...group.querySelectorAll(".operation")];
    for (const each of entries) {
      each.hidden = !words.every((word) => each.dataset.words.includes(word));
    }
    group.hidden = entries.every((each) => each.hidden);
  }
}

/** Open the operation that the address names. */
function follow() {
  const wanted = named(location.hash.slice(1));
  if (!wanted?.classList.contains("operation")) return;
  wanted.open = true;
  wanted.scrollIntoView();
  wanted.querySelector("summary").focus();
}

function named(escaped) {
  try {
    return place(decodeURIComponent(escaped));
  } catch {
    return null; // a malformed address
  }
}

function listen() {
  const field = place("search");
  field.addEventListener("input", () => search(field.value));
  document.addEventListener("keydown", (event) => {
    if (event.key !== "/" || event.target.closest("input, textarea, select")) return;
    event.preventDefault();
    field.focus();
  });
  // The key stays in its field: nothing is stored that other scripts or a later visitor could read.
  place("key").value = "";
  window.addEventListener("hashchange", follow);
}

async function begin() {
  listen();
  const answer = await fetch(DOCUMENT, { credentials: "omit" });
  if (!answer.ok) throw new Error(`${DOCUMENT} returned ${answer.status}`);
  const described = await answer.json();
  const operations = operationsOf(described);
  const tags = new Set([...(described.tags ?? []).map((tag) => tag.name),
    ...operations.map((operation) => operation.tags?.[0] ?? "other")]);
  document.title = `${described.info.title} API`;
  place("title").textContent = `${described.info.title} API ${described.info.version}`;
  place("about").replaceChildren(...prose(described.info.description));
  const sections = [...tags].map((tag) => [tag,
    operations.filter((operation) => (operation.tags?.[0] ?? "other") === tag)]);
  place("content").replaceChildren(...sections.filter(([, list]) => list.length)
    .map(([tag, list]) => section(described, tag, list)));
  search(place("search").value);
  follow();
}

begin().catch((error) => {
  place("message").textContent = `Cannot load the OpenAPI document: ${error.message}`;
});
