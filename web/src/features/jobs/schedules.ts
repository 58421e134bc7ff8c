// Converts a schedule to the fields of a form and back. Pure.
//
// The form has one rule and the most common options; all other fields of a schedule are kept unchanged.
// A schedule that the form cannot show, such as one with several rules, is edited as JSON.
import { parseJson, formatJson } from "../../lib/json.ts";
import { shortenIsoDuration, toInputValue, fromInputValue } from "../../lib/time.ts";

export const MODES = ["cron", "every", "fixed_delay", "at", "rrule", "event", "on_demand", "immediate", "json"] as const;
export type Mode = (typeof MODES)[number];

export interface ScheduleForm {
  mode: Mode;
  /** The typed text of each mode. */
  texts: Record<Mode, string>;
  timezone: string;
  calendars: string[];
  onBlackout: string;
  jitter: string;
  gap: string;
  overlap: string;
  onOutage: string;
  onResume: string;
  start: string;
  end: string;
  /** The stored schedule. */
  original: Record<string, unknown>;
}

const RULES = ["cron", "every", "fixed_delay", "at", "after", "rrule", "event", "on_demand", "immediate"];
type Plain = Record<string, unknown>;

const EMPTY: Record<Mode, string> = { cron: "0 * * * *", every: "15m", fixed_delay: "15m", at: "", rrule: "FREQ=MONTHLY;BYDAY=-1FR;BYHOUR=17", event: "", on_demand: "", immediate: "", json: "" };

/** `zone` is the viewer's: times are typed in it, and it is the default zone of a new schedule. */
export function formOf(schedule: Plain | null, zone: string): ScheduleForm {
  const original = schedule ?? {};
  const { mode, text } = ruleOf(schedule, zone);
  const dst = plain(original["dst"]);
  const misfire = plain(original["misfire"]);
  const window = plain(original["window"]);
  return {
    mode,
    texts: { ...EMPTY, [mode]: text, json: formatJson(schedule ?? { cron: "0 * * * *", timezone: zone }) },
    timezone: word(original["timezone"]) || (schedule ? "UTC" : zone),
    calendars: Array.isArray(original["calendars"]) ? original["calendars"].map(String) : [],
    onBlackout: word(original["on_blackout"]) || "skip",
    jitter: jitterOf(original["jitter"]),
    gap: word(dst["gap"]) || "run_after",
    overlap: word(dst["overlap"]) || "first",
    onOutage: word(misfire["on_outage"]) || "once",
    onResume: word(misfire["on_resume"]) || "skip",
    start: word(window["start"]) ? toInputValue(word(window["start"]), zone) : "",
    end: word(window["end"]) ? toInputValue(word(window["end"]), zone) : "",
    original,
  };
}

function ruleOf(schedule: Plain | null, zone: string): { mode: Mode; text: string } {
  if (!schedule) return { mode: "on_demand", text: "" };
  const rules = RULES.filter((name) => schedule[name] !== undefined && schedule[name] !== null && schedule[name] !== false);
  const [rule] = rules;
  if (rules.length !== 1 || !rule) return { mode: rules.length === 0 ? "on_demand" : "json", text: "" };
  const value = schedule[rule];
  if (rule === "on_demand" || rule === "immediate") return { mode: rule, text: "" };
  if (rule === "every" || rule === "fixed_delay") {
    const interval = typeof value === "string" ? value : word(plain(value)["interval"]);
    return interval ? { mode: rule, text: shortenIsoDuration(interval) } : { mode: "json", text: "" };
  }
  if (typeof value !== "string") return { mode: "json", text: "" };
  if (rule === "at") return { mode: "at", text: toInputValue(value, zone) };
  return rule === "after" ? { mode: "json", text: "" } : { mode: rule as Mode, text: value };
}

function jitterOf(value: unknown): string {
  const window = typeof value === "string" ? value : word(plain(value)["window"]);
  return window ? shortenIsoDuration(window) : "";
}

/** The schedule to send; the error is a sentence. */
export function scheduleOf(form: ScheduleForm, zone: string): { schedule: Plain | null; error: string | null } {
  if (form.mode === "json") {
    const found = parseJson(form.texts.json);
    if (found.error) return { schedule: null, error: found.error };
    return { schedule: plain(found.value), error: null };
  }
  const rule = ruleFor(form, zone);
  if (typeof rule === "string") return { schedule: null, error: rule };
  // These modes have no times, so no other options apply.
  if (form.mode === "on_demand" || form.mode === "immediate") return { schedule: rule, error: null };
  const kept = Object.fromEntries(Object.entries(form.original).filter(([name]) => !RULES.includes(name)));
  const schedule = { ...kept, ...rule };
  return { schedule: form.mode === "event" ? schedule : { ...schedule, ...optionsFor(form, kept, zone) }, error: null };
}

function ruleFor(form: ScheduleForm, zone: string): Plain | string {
  const text = form.texts[form.mode].trim();
  switch (form.mode) {
    case "on_demand":
    case "immediate":
      return { [form.mode]: true };
    case "at": {
      const moment = text ? fromInputValue(text, zone) : null;
      return moment ? { at: moment } : "Enter a time.";
    }
    case "every":
    case "fixed_delay": {
      if (!text) return "Enter a duration, for example 15m.";
      const before = form.original[form.mode];
      const interval = typeof before === "string" ? before : word(plain(before)["interval"]);
      // An unchanged interval keeps its anchor.
      return { [form.mode]: interval && shortenIsoDuration(interval) === text ? before : text };
    }
    case "cron":
      return text ? { cron: text } : "Enter a cron expression, for example 30 2 * * *.";
    case "rrule":
      return text ? { rrule: text } : "Enter a recurrence rule, for example FREQ=DAILY;BYHOUR=9.";
    default:
      return text ? { [form.mode]: text } : "Enter an event type, for example orders.created.";
  }
}

function optionsFor(form: ScheduleForm, kept: Plain, zone: string): Plain {
  const window = plain(kept["window"]);
  const options: Plain = {
    timezone: form.timezone.trim() || "UTC",
    calendars: form.calendars,
    dst: { ...plain(kept["dst"]), gap: form.gap, overlap: form.overlap },
    misfire: { ...plain(kept["misfire"]), on_outage: form.onOutage, on_resume: form.onResume },
    window: { ...window, start: form.start ? fromInputValue(form.start, zone) : null, end: form.end ? fromInputValue(form.end, zone) : null },
    jitter: jitterFor(form.jitter.trim(), kept["jitter"]),
  };
  if (form.calendars.length > 0 || kept["on_blackout"] !== undefined) options["on_blackout"] = form.onBlackout;
  return options;
}

function jitterFor(text: string, before: unknown): unknown {
  if (!text) return null;
  return jitterOf(before) === text ? before : { ...plain(before), window: text };
}

function plain(value: unknown): Plain {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Plain) : {};
}

function word(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** Compares two values as JSON, regardless of the order of fields. */
export function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(ordered(one)) === JSON.stringify(ordered(other));
}

function ordered(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(ordered);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .map(([name, each]) => [name, ordered(each)]),
  );
}
