// What fires when, as a heat map: cells of a day or a week, herds and quiet windows. Pure.
import type { LoadView } from "../../api/schema.gen.ts";
import { count } from "../../lib/figures.ts";
import { fromInput, length, stamp } from "../../lib/time.ts";

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

/** The day or the week, from Monday, that a date of the calendar in this zone is in. */
export function spanOf(view: View, date: string, zone: string): Span {
  if (view === "day") return { view, start: startOf(date, zone), end: startOf(later(date, 1), zone), cell: 60_000, columns: 60 };
  const monday = later(date, -((new Date(`${date}T00:00:00Z`).getUTCDay() + 6) % 7));
  return { view, start: startOf(monday, zone), end: startOf(later(monday, 7), zone), cell: HOUR, columns: 24 };
}

/** When a date begins on the clocks of a zone. */
function startOf(date: string, zone: string): number {
  return Date.parse(fromInput(`${date}T00:00`, zone) ?? `${date}T00:00:00Z`);
}

function later(date: string, days: number): string {
  return new Date(Date.parse(`${date}T00:00:00Z`) + days * DAY).toISOString().slice(0, 10);
}

/** The date as it stands in the URL; today in this zone if there is none. */
export function dateOf(text: string | null, now: number, zone: string): string {
  const isDate = /^\d{4}-\d\d-\d\d$/.test(text ?? "") && !Number.isNaN(Date.parse(`${text}T00:00:00Z`));
  return isDate && text !== null ? text : stamp(now, zone, "minute").slice(0, 10);
}

/** So many days or weeks later, or earlier. */
export function moved(view: View, date: string, by: number): string {
  return later(date, by * (view === "day" ? 1 : 7));
}

export interface Cell {
  start: number;
  ticks: number;
  /** From 0, nothing, to 5, the most there is. */
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
  const most = Math.max(1, ...ticks.values());
  // What fires all the time is the ground that herds stand out from.
  const least = ticks.size < cells ? 0 : Math.min(...ticks.values());
  const rows: Row[] = [];
  for (let first = 0; first < cells; first += span.columns) {
    const start = span.start + first * span.cell;
    const own: Cell[] = [];
    for (let place = first; place < Math.min(first + span.columns, cells); place++) {
      const number = ticks.get(place) ?? 0;
      own.push({ start: span.start + place * span.cell, ticks: number, level: levelOf(number, most, least) });
    }
    rows.push({ label: labelOf(span, start, zone), cells: own });
  }
  return rows;
}

/** By the root: a herd of a thousand must not make all others look like nothing. */
export function levelOf(ticks: number, most: number, least = 0): number {
  if (ticks === 0) return 0;
  return most === least ? 1 : Math.max(1, Math.ceil(5 * Math.sqrt((ticks - least) / (most - least))));
}

const DAYS = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"] as const;

function labelOf(span: Span, start: number, zone: string): string {
  const text = stamp(start, zone, "minute");
  return span.view === "day" ? text.slice(11, 16) : `${DAYS[new Date(`${text.slice(0, 10)}T00:00:00Z`).getUTCDay()] ?? ""} ${text.slice(5, 10)}`;
}

export interface Herd {
  start: string;
  ticks: number;
}

/** The fullest cells, if they are fuller than others: what fires at the same moment. */
export function herds(load: LoadView, most = 5): Herd[] {
  const sorted = [...load.buckets].sort((one, other) => other.ticks - one.ticks || one.start.localeCompare(other.start));
  return sorted.slice(0, most).filter((part) => part.ticks > 1);
}

export interface Quiet {
  start: number;
  end: number;
}

/** The longest times in which nothing fires, from `from` on. */
export function quiet(span: Span, load: LoadView, from: number, most = 3): Quiet[] {
  const busy = load.buckets.map((part) => Date.parse(part.start)).sort((one, other) => one - other);
  const found: Quiet[] = [];
  let since = Math.max(span.start, from);
  for (const start of busy) {
    if (start > since) found.push({ start: since, end: start });
    since = Math.max(since, start + span.cell);
  }
  if (since < span.end) found.push({ start: since, end: span.end });
  const long = found.filter((each) => each.end - each.start >= 10 * 60_000);
  return long.sort((one, other) => other.end - other.start - (one.end - one.start)).slice(0, most);
}

/** As in "Nothing fires from 02:10 to 03:00 (50 min)." */
export function quietSentence(spans: readonly Quiet[], view: View, zone: string): string {
  if (spans.length === 0) return view === "day" ? "There is no window of ten minutes in which nothing fires." : "Something fires in every hour.";
  const said = (at: number) => {
    const text = stamp(at, zone, "minute");
    return view === "day" ? text.slice(11, 16) : text.slice(5, 16);
  };
  const parts = spans.map((each) => `${said(each.start)} to ${said(each.end)} (${length((each.end - each.start) / 1000)})`);
  return `Nothing fires from ${parts.join(", nor from ")}.`;
}

/** The whole picture in one sentence, for those who do not see it. */
export function summary(load: LoadView): string {
  const ticks = load.buckets.reduce((sum, part) => sum + part.ticks, 0);
  return `${count(ticks, "tick")} of ${count(load.jobs, "job")}`;
}

export { DAY };

/** Which figures are estimates: those of single jobs, or all of them. */
export function estimateSentence(load: LoadView): string {
  const jobs = load.busiest.filter((job) => job.is_estimate).map((job) => job.job_name);
  if (jobs.length === 0) return "There are too many schedules to read each; these are estimates.";
  const named = jobs.slice(0, 3).join(", ");
  const more = jobs.length > 3 ? ` and ${count(jobs.length - 3, "more job", "more jobs")}` : "";
  return `Estimates, because these have too many ticks to walk: ${named}${more}. All others are exact.`;
}
