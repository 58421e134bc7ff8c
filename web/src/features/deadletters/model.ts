// Groups of dead letters: addressed, searched, and the filter that means exactly one of them. Pure.
import type { BulkFilter, DeadGroupView } from "../../api/schema.gen.ts";
import { whole } from "../../lib/figures.ts";

export const SPANS = ["month", "week", "day"] as const;
export type Span = (typeof SPANS)[number];

const DAYS: Record<Span, number> = { day: 1, week: 7, month: 30 };

/** To the minute, so that the question stays the same for a while. */
export function sinceOf(span: Span, now: number): string {
  return new Date(Math.floor(now / 60_000) * 60_000 - DAYS[span] * 86_400_000).toISOString();
}

type Key = Pick<DeadGroupView, "kind" | "fingerprint">;

/** What a group is known by in an address: its fingerprint and its task. */
export function keyOf(group: Key): string {
  return `${group.fingerprint}.${group.kind}`;
}

/** The group that an address means; null if it means none. */
export function read(key: string | null): Key | null {
  const [, fingerprint, kind] = /^([0-9a-f]{16})\.([^]+)$/.exec(key ?? "") ?? [];
  return fingerprint && kind ? { fingerprint, kind } : null;
}

export function fitting(groups: readonly DeadGroupView[], search: string): readonly DeadGroupView[] {
  const wanted = search.trim().toLowerCase();
  if (wanted === "") return groups;
  return groups.filter((group) => [group.kind, group.error_type, group.message, group.frame ?? "", ...group.jobs.map((job) => job.job_name ?? "")].join(" ").toLowerCase().includes(wanted));
}

/** Exactly the dead letters of the group: those that were there when it was read. */
export function filterOf(group: Key & { since: string; until: string }): BulkFilter {
  return { kind: group.kind, fingerprint: group.fingerprint, since: group.since, until: group.until };
}

/** The same for the list of runs. */
export function listOf(group: Key & { since: string; until: string }) {
  return { kind: group.kind, fingerprint: group.fingerprint, ended_after: group.since, ended_before: group.until };
}

/** "these 12", or "this one". */
export function these(number: number): string {
  return number === 1 ? "this one" : `these ${whole(number)}`;
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
