// Computes the heat map of ticks: cells of a day or a week, busiest times and quiet windows. Pure.
import type { LoadView } from "../../api/schema.gen.ts";
import { formatCount } from "../../lib/figures.ts";
import { fromInputValue, formatDuration, formatTime } from "../../lib/time.ts";

export const VIEWS = ["day", "week"] as const;
export type View = (typeof VIEWS)[number];

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

export interface Span {
  view: View;
  start: number;
  end: number;
  /** Milliseconds in a cell, and cells in a row. */
  cell: number;
  columns: number;
}

/** The day, or the week from Monday, that contains a date in this zone. */
export function spanOf(view: View, date: string, zone: string): Span {
  if (view === "day") return { view, start: startOf(date, zone), end: startOf(addDays(date, 1), zone), cell: 60_000, columns: 60 };
  const monday = addDays(date, -((new Date(`${date}T00:00:00Z`).getUTCDay() + 6) % 7));
  return { view, start: startOf(monday, zone), end: startOf(addDays(monday, 7), zone), cell: HOUR, columns: 24 };
}

/** The start of a date in a zone. */
function startOf(date: string, zone: string): number {
  return Date.parse(fromInputValue(`${date}T00:00`, zone) ?? `${date}T00:00:00Z`);
}

function addDays(date: string, days: number): string {
  return new Date(Date.parse(`${date}T00:00:00Z`) + days * DAY).toISOString().slice(0, 10);
}

/** The date in the URL. Default: today in this zone. */
export function dateOf(text: string | null, now: number, zone: string): string {
  const isDate = /^\d{4}-\d\d-\d\d$/.test(text ?? "") && !Number.isNaN(Date.parse(`${text}T00:00:00Z`));
  return isDate && text !== null ? text : formatTime(now, zone, "minute").slice(0, 10);
}

/** The date a number of days or weeks later; earlier if negative. */
export function shiftDate(view: View, date: string, by: number): string {
  return addDays(date, by * (view === "day" ? 1 : 7));
}

export interface Cell {
  start: number;
  ticks: number;
  /** From 0, no ticks, to 5, the maximum. */
  level: number;
}

export interface Row {
  label: string;
  cells: readonly Cell[];
}

/** The cells of a span, row by row. */
export function rowsOf(span: Span, load: LoadView, zone: string): Row[] {
  const ticks = new Map<number, number>();
  for (const part of load.buckets) {
    const place = Math.floor((Date.parse(part.start) - span.start) / span.cell);
    ticks.set(place, (ticks.get(place) ?? 0) + part.ticks);
  }
  const cells = Math.round((span.end - span.start) / span.cell);
  const max = Math.max(1, ...ticks.values());
  // A constant load is the baseline that busy cells stand out from.
  const min = ticks.size < cells ? 0 : Math.min(...ticks.values());
  const rows: Row[] = [];
  for (let first = 0; first < cells; first += span.columns) {
    const start = span.start + first * span.cell;
    const own: Cell[] = [];
    for (let place = first; place < Math.min(first + span.columns, cells); place++) {
      const number = ticks.get(place) ?? 0;
      own.push({ start: span.start + place * span.cell, ticks: number, level: levelOf(number, max, min) });
    }
    rows.push({ label: labelOf(span, start, zone), cells: own });
  }
  return rows;
}

/** Square root: a cell with a thousand ticks must not make all others look empty. */
export function levelOf(ticks: number, max: number, min = 0): number {
  if (ticks === 0) return 0;
  return max === min ? 1 : Math.max(1, Math.ceil(5 * Math.sqrt((ticks - min) / (max - min))));
}

const DAYS = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"] as const;

function labelOf(span: Span, start: number, zone: string): string {
  const text = formatTime(start, zone, "minute");
  return span.view === "day" ? text.slice(11, 16) : `${DAYS[new Date(`${text.slice(0, 10)}T00:00:00Z`).getUTCDay()] ?? ""} ${text.slice(5, 10)}`;
}

export interface BusyCell {
  start: string;
  ticks: number;
}

/** The busiest cells with more than one tick. */
export function busiestCells(load: LoadView, limit = 5): BusyCell[] {
  const sorted = [...load.buckets].sort((one, other) => other.ticks - one.ticks || one.start.localeCompare(other.start));
  return sorted.slice(0, limit).filter((part) => part.ticks > 1);
}

export interface QuietWindow {
  start: number;
  end: number;
}

/** The longest windows without ticks, from `from` on. */
export function quietWindows(span: Span, load: LoadView, from: number, limit = 3): QuietWindow[] {
  const busy = load.buckets.map((part) => Date.parse(part.start)).sort((one, other) => one - other);
  const found: QuietWindow[] = [];
  let since = Math.max(span.start, from);
  for (const start of busy) {
    if (start > since) found.push({ start: since, end: start });
    since = Math.max(since, start + span.cell);
  }
  if (since < span.end) found.push({ start: since, end: span.end });
  const long = found.filter((each) => each.end - each.start >= 10 * 60_000);
  return long.sort((one, other) => other.end - other.start - (one.end - one.start)).slice(0, limit);
}

/** As in "Quiet windows: 02:10 to 03:00 (50 min)." */
export function describeQuiet(spans: readonly QuietWindow[], view: View, zone: string): string {
  if (spans.length === 0) return view === "day" ? "No quiet window of ten minutes or more." : "No quiet hour.";
  const format = (at: number) => {
    const text = formatTime(at, zone, "minute");
    return view === "day" ? text.slice(11, 16) : text.slice(5, 16);
  };
  const parts = spans.map((each) => `${format(each.start)} to ${format(each.end)} (${formatDuration((each.end - each.start) / 1000)})`);
  return `Quiet windows: ${parts.join(", ")}.`;
}

/** The heat map in one phrase, for screen readers. */
export function summarizeLoad(load: LoadView): string {
  const ticks = load.buckets.reduce((sum, part) => sum + part.ticks, 0);
  return `${formatCount(ticks, "tick")} of ${formatCount(load.jobs, "job")}`;
}

export { DAY };

/** Names the estimated figures: those of single jobs, or all of them. */
export function describeEstimates(load: LoadView): string {
  const jobs = load.busiest.filter((job) => job.is_estimate).map((job) => job.job_name);
  if (jobs.length === 0) return "Too many schedules to count exactly; all figures are estimates.";
  const named = jobs.slice(0, 3).join(", ");
  const more = jobs.length > 3 ? ` and ${formatCount(jobs.length - 3, "more job", "more jobs")}` : "";
  return `Estimated, because they have too many ticks to count: ${named}${more}. All other jobs are exact.`;
}
