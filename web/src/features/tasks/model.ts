// Computes what the task pages show. Pure.
import type { TaskBucket, TaskView } from "../../api/schema.gen.ts";
import { type FormField, type Schema, fieldsOf } from "../../lib/schema.ts";
import { shortenIsoDuration, formatDuration, formatTime } from "../../lib/time.ts";
import { formatPercent, formatRate, formatInteger } from "../../lib/figures.ts";

export const WINDOWS = ["24h", "1h", "7d", "30d"] as const;
export type Window = (typeof WINDOWS)[number];
export const WINDOW_NAMES: Record<Window, string> = { "1h": "Last hour", "24h": "24 hours", "7d": "7 days", "30d": "30 days" };

export interface FinishedRuns {
  at: number[];
  fine: number[];
  failed: number[];
}

/** Finished runs, failed ones separately; a bucket is placed at its middle. */
export function finishedRuns(buckets: readonly TaskBucket[], width: number): FinishedRuns {
  return {
    at: buckets.map((bucket) => middle(bucket, width)),
    fine: buckets.map((bucket) => bucket.ended - bucket.failed),
    failed: buckets.map((bucket) => bucket.failed),
  };
}

export function describeFinished(found: FinishedRuns, index: number, zone: string): string {
  const [fine, failed] = [found.fine[index] ?? 0, found.failed[index] ?? 0];
  return `${formatTime(found.at[index] ?? 0, zone, "minute")}: ${formatInteger(fine + failed)} finished, ${formatInteger(failed)} failed`;
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

export function describePercentiles(found: Percentiles, index: number, zone: string): string {
  const at = formatTime(found.at[index] ?? 0, zone, "minute");
  const [p50, p99] = [found.p50[index], found.p99[index]];
  if (p50 === null || p50 === undefined) return `${at}: no runs`;
  return `${at}: p50 ${formatDuration(p50)}, p99 ${formatDuration(p99 ?? p50)}`;
}

function middle(bucket: TaskBucket, width: number): number {
  return Date.parse(bucket.start) + (width * 1000) / 2;
}

/** A count, with a plus sign if counting stopped at its limit. */
export function formatPartialCount(number: number, isPartial: boolean): string {
  return isPartial && number > 0 ? `${formatInteger(number)}+` : formatInteger(number);
}

export function perMinute(task: { runs_per_minute: number; is_estimate: boolean }): string {
  return `${task.is_estimate ? "about " : ""}${formatRate(task.runs_per_minute)}`;
}

export function formatShare(value: number | null): string {
  return value === null ? "–" : formatPercent(value);
}

/** "3 of 120": failed runs among those that succeeded or failed. */
export function failureCount(task: TaskView): string {
  const total = task.failed + (task.runs["succeeded"] ?? 0);
  return total === 0 ? "no finished runs" : `${formatInteger(task.failed)} of ${formatInteger(total)}`;
}

/** The options of a default policy, each as a name and a text. */
export function policyRows(policy: Record<string, unknown> | null): [string, string][] {
  return Object.entries(policy ?? {}).map(([name, value]) => [name.replaceAll("_", " "), describeValue(value)]);
}

function describeValue(value: unknown): string {
  if (typeof value === "string") return /^P\w/.test(value) ? shortenIsoDuration(value) : value;
  if (typeof value === "object" && value !== null && !Array.isArray(value)) {
    return Object.entries(value)
      .map(([name, inner]) => `${name} ${describeValue(inner)}`)
      .join(", ");
  }
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

/** The fields of a payload; null if any JSON is valid. */
export function payloadFields(schema: Record<string, unknown> | null): FormField[] | null {
  return fieldsOf(schema as Schema | null);
}

const TYPES: Record<FormField["kind"], string> = { text: "text", long: "text", number: "number", integer: "whole number", yes: "true or false", choice: "choice", json: "JSON" };

export function typeOf(field: FormField): string {
  if (field.kind === "choice") return field.options.join(" | ");
  const range = [field.minimum === undefined ? null : `from ${field.minimum}`, field.maximum === undefined ? null : `to ${field.maximum}`];
  return [TYPES[field.kind], ...range.filter((bound) => bound !== null)].join(" ");
}
