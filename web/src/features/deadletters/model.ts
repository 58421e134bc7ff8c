// Addresses, searches and filters groups of dead letters. Pure.
import type { BulkFilter, DeadGroupView } from "../../api/schema.gen.ts";
import { formatCount } from "../../lib/figures.ts";

export const SPANS = ["month", "week", "day"] as const;
export type Span = (typeof SPANS)[number];

const DAYS: Record<Span, number> = { day: 1, week: 7, month: 30 };

/** Rounded to the minute, so that the query stays the same for a while. */
export function sinceOf(span: Span, now: number): string {
  return new Date(Math.floor(now / 60_000) * 60_000 - DAYS[span] * 86_400_000).toISOString();
}

type Key = Pick<DeadGroupView, "kind" | "fingerprint">;

/** The key of a group in the URL: its fingerprint and its task. */
export function keyOf(group: Key): string {
  return `${group.fingerprint}.${group.kind}`;
}

/** Parses a key of the URL; null if it is invalid. */
export function parseKey(key: string | null): Key | null {
  const [, fingerprint, kind] = /^([0-9a-f]{16})\.([^]+)$/.exec(key ?? "") ?? [];
  return fingerprint && kind ? { fingerprint, kind } : null;
}

export function filterGroups(groups: readonly DeadGroupView[], search: string): readonly DeadGroupView[] {
  const wanted = search.trim().toLowerCase();
  if (wanted === "") return groups;
  return groups.filter((group) => [group.kind, group.error_type, group.message, group.frame ?? "", ...group.jobs.map((job) => job.job_name ?? "")].join(" ").toLowerCase().includes(wanted));
}

/** A filter for exactly the dead letters of the group at the time it was loaded. */
export function filterOf(group: Key & { since: string; until: string }): BulkFilter {
  return { kind: group.kind, fingerprint: group.fingerprint, since: group.since, until: group.until };
}

/** The same filter, as the query of the run list. */
export function listOf(group: Key & { since: string; until: string }) {
  return { kind: group.kind, fingerprint: group.fingerprint, ended_after: group.since, ended_before: group.until };
}

/** "1 run", "1,200 runs". */
export function formatRuns(number: number): string {
  return formatCount(number, "run");
}

export const PACES = [
  { value: "", label: "All at once" },
  { value: "600", label: "10 per second" },
  { value: "60", label: "1 per second" },
  { value: "10", label: "10 per minute" },
  { value: "1", label: "1 per minute" },
] as const;

/** When the last run starts at a pace. */
export function describePace(number: number, perMinute: number | null): string {
  if (perMinute === null || number <= 1) return "Runs start as soon as workers are free.";
  const seconds = Math.round(((number - 1) * 60) / perMinute);
  if (seconds < 120) return `The last run starts in ${seconds} seconds.`;
  if (seconds < 7200) return `The last run starts in ${Math.round(seconds / 60)} minutes.`;
  return `The last run starts in ${Math.round(seconds / 3600)} hours.`;
}
