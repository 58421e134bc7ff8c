// Tries an operation: a form, its request, the curl command and the response.

import { element } from "./elements.js";
import { resolve, sample, typeOf } from "./schema.js";

const LONGEST = 200_000;

/** The form of one operation. `key` returns the current API key. */
export function trial(document, operation, key) {
  const fields = operation.parameters.map((parameter) => field(document, parameter));
  const body = bodyOf(document, operation);
  const answer = element("div", { class: "answer", "aria-live": "polite" });
  const send = element("button", { type: "submit" }, "Send");
  const show = element("button", { type: "button", class: "plain" }, "Show curl");
  const ask = () => request(operation, fields, body, key());
  show.addEventListener("click", () => guarded(answer, () => [block("curl", curl(ask()))]));
  const form = element("form", {},
    fields.length ? element("div", { class: "fields" }, fields.map((each) => each.label)) : null,
    body?.label,
    element("div", { class: "actions" }, send, show));
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    send.disabled = true;
    await guarded(answer, () => carryOut(ask()));
    send.disabled = false;
  });
  return element("div", {}, element("h3", {}, "Try it"), form, answer);
}

function field(document, parameter) {
  const schema = resolve(document, parameter.schema);
  const input = schema.enum
    ? element("select", {}, ["", ...schema.enum].map((value) => element("option", {}, String(value))))
    : element("input", { spellcheck: false, autocomplete: "off" });
  input.required = Boolean(parameter.required);
  input.placeholder = schema.enum ? "" : typeOf(document, parameter.schema);
  const name = parameter.required ? `${parameter.name} (${parameter.in}, required)`
    : `${parameter.name} (${parameter.in})`;
  return { ...parameter, schema, input, label: element("label", {}, name, input) };
}

function bodyOf(document, operation) {
  const [type, content] = Object.entries(operation.requestBody?.content ?? {})[0] ?? [];
  if (!type) return null;
  const [named] = Object.values(content.examples ?? {});
  const example = content.example ?? named?.value ?? sample(document, content.schema);
  const input = element("textarea", { spellcheck: false, value: JSON.stringify(example, null, 2) });
  input.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) input.form.requestSubmit();
  });
  const isRequired = Boolean(operation.requestBody.required);
  return { type, input, isRequired, label: element("label", {}, `Body (${type}; Ctrl+Enter sends)`, input) };
}

/** The request to send. Throws an error with a message if the input is invalid. */
export function request(operation, fields, body, key) {
  const headers = { Accept: mediaOf(operation) };
  const query = new URLSearchParams();
  let path = operation.path;
  for (const each of fields) {
    const value = each.input.value.trim();
    if (each.in === "path") path = path.replace(`{${each.name}}`, encodeURIComponent(value));
    else if (value === "") continue;
    else if (each.in === "header") headers[each.name] = value;
    else for (const part of parts(each, value)) query.append(each.name, part);
  }
  if (key) headers.Authorization = `Bearer ${key}`;
  const text = body?.input.value.trim();
  if (body && (text || body.isRequired)) {
    headers["Content-Type"] = body.type;
    checkJson(text);
  }
  const search = query.size ? `?${query}` : "";
  return { method: operation.method.toUpperCase(), url: path + search, headers, body: text || undefined };
}

function mediaOf(operation) {
  const [good] = Object.entries(operation.responses ?? {}).filter(([status]) => status[0] === "2");
  const types = Object.keys(good?.[1].content ?? {});
  return [...(types.length ? types : ["application/json"]), "application/problem+json"].join(", ");
}

function parts(parameter, value) {
  return parameter.schema.type === "array" ? value.split(",").map((part) => part.trim()) : [value];
}

function checkJson(text) {
  try {
    JSON.parse(text);
  } catch (error) {
    throw new Error(`The body is not JSON: ${error.message}`, { cause: error });
  }
}

/** The same request as a curl command; the key is a variable, so that it is not copied around. */
export function curl(asked) {
  const lines = [`curl -X ${asked.method} ${quoted(location.origin + asked.url)}`];
  for (const [name, value] of Object.entries(asked.headers)) {
    lines.push(name === "Authorization"
      ? '-H "Authorization: Bearer $ROTA_API_KEY"' : `-H ${quoted(`${name}: ${value}`)}`);
  }
  if (asked.body !== undefined) lines.push(`--data-raw ${quoted(asked.body)}`);
  return lines.join(" \\\n  ");
}

function quoted(text) {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

async function carryOut(asked) {
  const { method, headers, body } = asked;
  const began = performance.now();
  const answer = await fetch(asked.url, { method, headers, body, credentials: "omit", cache: "no-store" });
  const shown = await beginningOf(answer);
  const time = Math.round(performance.now() - began);
  const sort = answer.ok ? "good" : "bad";
  return [
    element("p", {}, element("strong", { class: sort }, `${answer.status} ${answer.statusText}`),
      ` in ${time} ms`),
    block("headers", [...answer.headers].map(([name, value]) => `${name}: ${value}`).join("\n")),
    block("body", pretty(shown)),
    block("curl", curl(asked)),
  ];
}

/** The body, or as much of it as can be shown; a stream of events is read for two seconds. */
async function beginningOf(answer) {
  const reader = answer.body?.getReader();
  if (!reader) return "";
  const isStream = answer.headers.get("Content-Type")?.startsWith("text/event-stream");
  const stop = isStream ? setTimeout(() => reader.cancel(), 2000) : undefined;
  const decoder = new TextDecoder();
  let text = "";
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    text += decoder.decode(part.value, { stream: true });
    if (text.length > LONGEST) {
      await reader.cancel();
      return `${text.slice(0, LONGEST)}\n… and more`;
    }
  }
  clearTimeout(stop);
  return text;
}

function pretty(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

function block(name, text) {
  if (!text) return null;
  return element("div", {}, element("h3", {}, name), element("pre", { tabIndex: 0 }, text));
}

/** Show the result of `make`, or its error message. */
async function guarded(place, make) {
  try {
    place.replaceChildren(...(await make()).filter(Boolean));
  } catch (error) {
    place.replaceChildren(element("p", { class: "bad", role: "alert" }, error.message));
  }
}
