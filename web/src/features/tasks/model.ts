// What the pages of tasks show, computed. Pure.
import type { TaskBucket, TaskView } from "../../api/schema.gen.ts";
import { type FormField, type Schema, fieldsOf } from "../../lib/schema.ts";
import { brief, length, stamp } from "../../lib/time.ts";
import { percent, rate, whole } from "../../lib/figures.ts";

export const WINDOWS = ["24h", "1h", "7d", "30d"] as const;
export type Window = (typeof WINDOWS)[number];
export const WINDOW_NAMES: Record<Window, string> = { "1h": "Last hour", "24h": "24 hours", "7d": "7 days", "30d": "30 days" };

export interface Ended {
  at: number[];
  fine: number[];
  failed: number[];
}

/** Runs that ended, those that failed apart; a bucket stands in its middle. */
export function ended(buckets: readonly TaskBucket[], width: number): Ended {
  return {
    at: buckets.map((bucket) => middle(bucket, width)),
    fine: buckets.map((bucket) => bucket.ended - bucket.failed),
    failed: buckets.map((bucket) => bucket.failed),
  };
}

export function endedText(found: Ended, index: number, zone: string): string {
  const [fine, failed] = [found.fine[index] ?? 0, found.failed[index] ?? 0];
  return `${stamp(found.at[index] ?? 0, zone, "minute")}: ${whole(fine + failed)} ended, ${whole(failed)} failed`;
}

export interface Percentiles {
  at: number[];
  p50: (number | null)[];
  p99: (number | null)[];
}

export function percentiles(buckets: readonly TaskBucket[], width: number, of: "duration" | "wait"): Percentiles {
  return {
    at: buckets.map((bucket) => middle(bucket, width)),
    p50: buckets.map((bucket) => bucket[`${of}_p50_s`]),
    p99: buckets.map((bucket) => bucket[`${of}_p99_s`]),
  };
}

export function percentilesText(found: Percentiles, index: number, zone: string): string {
  const at = stamp(found.at[index] ?? 0, zone, "minute");
  const [p50, p99] = [found.p50[index], found.p99[index]];
  if (p50 === null || p50 === undefined) return `${at}: no runs`;
  return `${at}: median ${length(p50)}, 99 % ${length(p99 ?? p50)}`;
}

function middle(bucket: TaskBucket, width: number): number {
  return Date.parse(bucket.start) + (width * 1000) / 2;
}

/** A count that may have stopped at its bound. */
export function counted(number: number, isPartial: boolean): string {
  return isPartial && number > 0 ? `${whole(number)}+` : whole(number);
}

export function perMinute(task: { runs_per_minute: number; is_estimate: boolean }): string {
  return `${task.is_estimate ? "about " : ""}${rate(task.runs_per_minute)}`;
}

export function share(value: number | null): string {
  return value === null ? "–" : percent(value);
}

/** "3 of 120", of the runs that succeeded or failed. */
export function failures(task: TaskView): string {
  const tried = task.failed + (task.runs["succeeded"] ?? 0);
  return tried === 0 ? "nothing ended" : `${whole(task.failed)} of ${whole(tried)}`;
}

/** The options of a default policy, each as a name and a text. */
export function policyRows(policy: Record<string, unknown> | null): [string, string][] {
  return Object.entries(policy ?? {}).map(([name, value]) => [name.replaceAll("_", " "), told(value)]);
}

function told(value: unknown): string {
  if (typeof value === "string") return /^P\w/.test(value) ? brief(value) : value;
  if (typeof value === "object" && value !== null && !Array.isArray(value)) {
    return Object.entries(value)
      .map(([name, inner]) => `${name} ${told(inner)}`)
      .join(", ");
  }
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

/** The fields of a payload; null if any JSON is taken. */
export function payloadFields(schema: Record<string, unknown> | null): FormField[] | null {
  return fieldsOf(schema as Schema | null);
}

const TYPES: Record<FormField["kind"], string> = { text: "text", long: "text", number: "number", integer: "whole number", yes: "true or false", choice: "choice", json: "JSON" };

export function typeOf(field: FormField): string {
  if (field.kind === "choice") return field.options.join(" | ");
  const range = [field.minimum === undefined ? null : `from ${field.minimum}`, field.maximum === undefined ? null : `to ${field.maximum}`];
  return [TYPES[field.kind], ...range.filter((each) => each !== null)].join(" ");
}
