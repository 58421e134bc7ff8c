// Renders JSON Schema of OpenAPI 3.1: a type in words, as a tree, and as an example.

import { element, opening, prose } from "./elements.js";

const LIMITS = [
  ["minimum", "≥ "], ["exclusiveMinimum", "> "], ["maximum", "≤ "], ["exclusiveMaximum", "< "],
  ["multipleOf", "multiple of "], ["minLength", "length ≥ "], ["maxLength", "length ≤ "],
  ["minItems", "items ≥ "], ["maxItems", "items ≤ "], ["minProperties", "fields ≥ "],
  ["maxProperties", "fields ≤ "], ["pattern", "matches "], ["format", ""],
];
const DEEPEST = 6;

/** The schema with references resolved and their siblings merged. */
export function resolve(document, schema) {
  let found = schema ?? {};
  for (let step = 0; found.$ref && step < 20; step += 1) {
    const { $ref, ...beside } = found;
    found = { ...pointed(document, $ref), ...beside };
  }
  return found;
}

function pointed(document, reference) {
  const parts = reference.replace(/^#\//, "").split("/");
  const unescaped = parts.map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));
  return unescaped.reduce((place, part) => place?.[part], document) ?? {};
}

/** The alternatives of a schema, or none. */
export function alternatives(schema) {
  return schema.anyOf ?? schema.oneOf ?? [];
}

/** The type of a value in a few words: "array of string", "integer or null". */
export function typeOf(document, schema, depth = 0) {
  if (depth > DEEPEST) return "…";
  const name = schema?.$ref?.split("/").pop();
  const found = resolve(document, schema);
  const others = alternatives(found);
  if (others.length) return others.map((each) => typeOf(document, each, depth + 1)).join(" or ");
  if ("const" in found) return JSON.stringify(found.const);
  if (found.enum) return found.enum.map((value) => JSON.stringify(value)).join(" or ");
  if (found.type === "array") return `array of ${typeOf(document, found.items, depth + 1)}`;
  if (found.type === "object" || found.properties) return name ?? found.title ?? "object";
  return [found.type ?? "anything"].flat().join(" or ");
}

/** The constraints of a value, each in a few words. */
function limitsOf(document, schema) {
  const found = resolve(document, schema);
  const others = alternatives(found).filter((each) => resolve(document, each).type !== "null");
  const bound = others.length === 1 ? resolve(document, others[0]) : found;
  const told = LIMITS.filter(([key]) => key in bound).map(([key, sign]) => sign + bound[key]);
  if ((found.default ?? null) !== null) told.push(`usually ${JSON.stringify(found.default)}`);
  if (bound.uniqueItems) told.push("no two the same");
  return told;
}

/** A schema as a list; nested parts can be opened. */
export function tree(document, schema) {
  const found = resolve(document, schema);
  const list = element("ul", { class: "schema" });
  for (const [name, field] of Object.entries(found.properties ?? {})) {
    const isRequired = (found.required ?? []).includes(name);
    list.append(element("li", {}, branch(document, name, field, isRequired)));
  }
  const more = found.additionalProperties;
  if (more && typeof more === "object") {
    list.append(element("li", {}, branch(document, "any other name", more, false)));
  }
  for (const each of found.prefixItems ?? []) list.append(item(document, each, "in this place"));
  if (found.items) list.append(item(document, found.items, "each item"));
  for (const each of alternatives(found)) list.append(item(document, each, "either"));
  if (!list.childElementCount) list.append(element("li", {}, branch(document, "", schema, false)));
  return list;
}

function item(document, schema, name) {
  return element("li", {}, branch(document, name, schema, false));
}

function branch(document, name, schema, isRequired) {
  const found = resolve(document, schema);
  const line = [
    name ? element("span", { class: "name" }, name) : null,
    ` ${typeOf(document, schema)}`,
    isRequired ? element("span", { class: "required" }, " required") : null,
    limits(document, found),
  ].filter(Boolean);
  const about = found.description ? element("div", { class: "faint" }, prose(found.description)) : null;
  if (!isNested(document, found)) return element("div", {}, line, about);
  return element("div", {}, opening({}, line, () => tree(document, schema)), about);
}

/** The constraints in brackets, or null. */
export function limits(document, schema) {
  const told = limitsOf(document, schema);
  return told.length ? element("span", { class: "faint" }, ` (${told.join(", ")})`) : null;
}

function isNested(document, schema) {
  if (schema.properties || typeof schema.additionalProperties === "object") return true;
  const inner = [schema.items, ...(schema.prefixItems ?? []), ...alternatives(schema)];
  return inner.filter(Boolean).some((each) => isNested(document, resolve(document, each)));
}

/** A value that matches a schema: its example, or a minimal value. */
export function sample(document, schema, depth = 0) {
  const found = resolve(document, schema);
  if ("example" in found) return found.example;
  if (found.examples?.length) return found.examples[0];
  if ("default" in found) return found.default;
  if ("const" in found) return found.const;
  if (found.enum) return found.enum[0];
  const [first] = alternatives(found).filter((each) => resolve(document, each).type !== "null");
  if (first && depth < DEEPEST) return sample(document, first, depth + 1);
  return plain(document, found, depth);
}

function plain(document, schema, depth) {
  switch ([schema.type].flat()[0]) {
    case "string": return schema.format === "date-time" ? "2030-01-01T00:00:00Z" : "";
    case "integer": case "number": return schema.minimum ?? 0;
    case "boolean": return false;
    case "array": return schema.minItems && depth < DEEPEST
      ? [sample(document, schema.items, depth + 1)] : [];
    case "object": return object(document, schema, depth);
    default: return schema.properties ? object(document, schema, depth) : null;
  }
}

function object(document, schema, depth) {
  if (depth >= DEEPEST) return {};
  const required = schema.required ?? [];
  const shown = required.length ? required : Object.keys(schema.properties ?? {}).slice(0, 3);
  const fields = shown.map((name) => [name, sample(document, schema.properties?.[name], depth + 1)]);
  return Object.fromEntries(fields);
}
