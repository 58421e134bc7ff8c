// Converts what is expected of a job to the fields of a form and back. Parts that the form does not show,
// such as the window of a failure rate, stay as they are. Pure.
import { parseJson } from "../../lib/json.ts";
import { shortenIsoDuration } from "../../lib/time.ts";

export type JsonObject = Record<string, unknown>;

/** Reads the document of a form's text; an empty or invalid text is an empty document. */
export function readDocument(text: string): JsonObject {
  const { value } = parseJson(text);
  return isObject(value) ? value : {};
}

/** Writes a document; an empty one is an empty text, which means null. */
export function writeDocument(document: JsonObject): string {
  const kept = Object.entries(document).filter(([, value]) => value !== null && value !== undefined);
  return kept.length === 0 ? "" : JSON.stringify(Object.fromEntries(kept));
}

/** One condition of the form: its text, and the value that a text stands for; undefined removes it. */
export interface ConditionField {
  name: string;
  label: string;
  hint: string;
  read: (value: unknown) => string;
  write: (text: string, before: unknown) => unknown;
}

const readText = (value: unknown): string => (typeof value === "string" ? shortenIsoDuration(value) : value === undefined || value === null ? "" : String(value));
const writeText = (text: string): unknown => text.trim() || undefined;
/** A number; any other text is sent as it is, so that the API says what is wrong with it. */
const writeNumber = (text: string): unknown => (text.trim() === "" ? undefined : /^\d+$/.test(text.trim()) ? Number(text) : text.trim());

export const EXPECT_FIELDS: readonly ConditionField[] = [
  { name: "start_within", label: "Start within", hint: "After the tick, for example 5m.", read: readText, write: writeText },
  { name: "finish_by", label: "Finish by", hint: "A time of day such as 06:00, or a duration after the tick such as +3h30m.", read: readText, write: writeText },
  { name: "succeed_every", label: "Succeed every", hint: "The newest success is at most this old, for example 26h.", read: readText, write: writeText },
  {
    name: "max_duration",
    label: "Maximum duration",
    hint: "For example 40m, or 2x for twice its own 95th percentile.",
    read: (value) => (isObject(value) ? `${String(value["times"])}x` : readText(value)),
    write: (text, before) => {
      const times = /^(\d+(?:\.\d+)?)\s*x$/.exec(text.trim())?.[1];
      return times === undefined ? writeText(text) : { ...(isObject(before) ? before : {}), times: Number(times) };
    },
  },
  {
    name: "failures",
    label: "Failures in a row",
    hint: "An incident opens at this many, for example 2.",
    read: (value) => (isObject(value) ? readText(value["streak"]) : ""),
    write: (text, before) => {
      const { streak: _, ...rest } = isObject(before) ? before : {};
      const streak = writeNumber(text);
      if (streak !== undefined) return { ...rest, streak };
      return Object.keys(rest).length === 0 ? undefined : rest;
    },
  },
  {
    name: "dead_letters",
    label: "Dead letters",
    hint: "An incident opens at this many with the same error.",
    read: (value) => readText(isObject(value) ? value["count"] : value),
    write: (text, before) => {
      const count = writeNumber(text);
      return isObject(before) && count !== undefined ? { ...before, count } : count;
    },
  },
  { name: "missed_ticks", label: "Missed ticks", hint: "An incident opens at this many in a row.", read: readText, write: writeNumber },
];

export const ALERT_FIELDS: readonly ConditionField[] = [
  { name: "to", label: "Report to", hint: "A route or a channel. Empty: the default channels.", read: readText, write: writeText },
  { name: "for", label: "Only if it lasts", hint: "How long a violation must last, for example 2m. Empty: at once.", read: readText, write: writeText },
];

/** The document with one field changed. */
export function withField(document: JsonObject, field: ConditionField, text: string): JsonObject {
  return { ...document, [field.name]: field.write(text, document[field.name]) };
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
