// Groups of dead letters: found, told apart, filtered. Pure.
import type { BulkFilter, DeadGroupView } from "../../api/schema.gen.ts";

export const SPANS = ["month", "week", "day"] as const;
export type Span = (typeof SPANS)[number];

const DAYS: Record<Span, number> = { day: 1, week: 7, month: 30 };

/** To the minute, so that the question stays the same for a while. */
export function sinceOf(span: Span, now: number): string {
  return new Date(Math.floor(now / 60_000) * 60_000 - DAYS[span] * 86_400_000).toISOString();
}

/** What a group is known by in an address: its job and its error, whatever its latest sample is. */
export function keyOf(group: Pick<DeadGroupView, "job_id" | "error_type" | "message">): string {
  return `${group.job_id}.${hash(`${group.error_type}\0${group.message}`)}`;
}

/** FNV-1a: short, and the same on every machine. */
function hash(text: string): string {
  let value = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(text)) value = Math.imul(value ^ byte, 0x01000193) >>> 0;
  return value.toString(16).padStart(8, "0");
}

export function find(groups: readonly DeadGroupView[], key: string | null): DeadGroupView | undefined {
  return key === null ? undefined : groups.find((group) => keyOf(group) === key);
}

export function fitting(groups: readonly DeadGroupView[], search: string): readonly DeadGroupView[] {
  const wanted = search.trim().toLowerCase();
  if (wanted === "") return groups;
  return groups.filter((group) => `${group.job_name ?? ""} ${group.error_type} ${group.message}`.toLowerCase().includes(wanted));
}

/** All of the job with the same type of error: messages often differ by a number only. */
export function filterOf(group: Pick<DeadGroupView, "job_id" | "error_type">): BulkFilter {
  return { job_id: group.job_id, error: group.error_type };
}

export const PACES = [
  { value: "", label: "All at once" },
  { value: "600", label: "10 a second" },
  { value: "60", label: "1 a second" },
  { value: "10", label: "10 a minute" },
  { value: "1", label: "1 a minute" },
] as const;

/** How long it takes until the last one may begin. */
export function lasting(number: number, perMinute: number | null): string {
  if (perMinute === null || number <= 1) return "They begin as soon as workers are free.";
  const seconds = Math.round(((number - 1) * 60) / perMinute);
  if (seconds < 120) return `The last one begins in ${seconds} seconds.`;
  if (seconds < 7200) return `The last one begins in ${Math.round(seconds / 60)} minutes.`;
  return `The last one begins in ${Math.round(seconds / 3600)} hours.`;
}
