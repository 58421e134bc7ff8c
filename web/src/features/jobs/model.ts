// Computes what the job list and the job page show. Pure.
import type { RecentRuns } from "../../api/outcomes.ts";
import type { JobView, OutcomeView, RunView } from "../../api/schema.gen.ts";
import { formatCount } from "../../lib/figures.ts";
import { statusLook } from "../../lib/states.ts";
import { secondsBetween, shortenIsoDuration, formatDuration, formatTime } from "../../lib/time.ts";
import type { Outcome } from "../../ui/OutcomeStrip.tsx";

/** A short summary of a job's schedule; the job page shows the full sentence. */
export function summarizeSchedule(job: Pick<JobView, "schedule" | "schedule_type" | "timezone" | "schedule_time">): string {
  const schedule = job.schedule ?? {};
  const parts = Object.keys(RULES).flatMap((name) => {
    const value = schedule[name];
    if (value === undefined || value === null) return [];
    return (Array.isArray(value) ? value : [value]).map((each) => RULES[name]?.(each) ?? null).filter((each) => each !== null);
  });
  if (parts.length === 0) return TYPES[job.schedule_type] ?? job.schedule_type.toLowerCase();
  const hasZone = job.timezone && job.timezone !== "UTC" && (schedule["cron"] || schedule["rrule"]);
  return `${parts.join(" + ")}${hasZone ? ` ${job.timezone}` : ""}`;
}

const RULES: Record<string, (value: unknown) => string | null> = {
  cron: (value) => (typeof value === "string" ? value : null),
  rrule: (value) => (typeof value === "string" ? value : null),
  every: (value) => interval(value, "interval", (length) => `every ${length}`),
  at: () => "once",
  fixed_delay: (value) => interval(value, "delay", (length) => `${length} after each run`),
  event: (value) => (typeof value === "string" ? `on ${value}` : null),
};

function interval(value: unknown, field: string, render: (length: string) => string): string | null {
  const text = isRecord(value) ? value[field] : value;
  return typeof text === "string" ? render(shortenIsoDuration(text)) : null;
}

const TYPES: Record<string, string> = {
  IMMEDIATE: "once, immediately",
  FUTURE: "once",
  DELAYED: "once",
  ON_DEMAND: "on demand",
  MIXED: "several rules",
  EVENT: "on an event",
};

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export interface Sorting {
  by: string;
  down: boolean;
}

/** Parses the sort order: "-name" is name, descending; empty is the API's order, newest first. */
export function parseSort(text: string | null): Sorting | null {
  if (!text) return null;
  return { by: text.replace(/^-/, ""), down: text.startsWith("-") };
}

export function sortJobs(jobs: readonly JobView[], sort: Sorting | null, recent: RecentRuns): JobView[] {
  if (!sort) return [...jobs];
  const key = KEYS[sort.by];
  if (!key) return [...jobs];
  const signed = sort.down ? -1 : 1;
  return [...jobs].sort((one, other) => {
    const [a, b] = [key(one, recent), key(other, recent)];
    // Jobs without a value come last in both directions.
    if (a === null || b === null) return a === b ? 0 : a === null ? 1 : -1;
    return signed * (a < b ? -1 : a > b ? 1 : 0);
  });
}

const KEYS: Record<string, (job: JobView, recent: RecentRuns) => string | null> = {
  name: (job) => job.name.toLowerCase(),
  status: (job) => job.status,
  kind: (job) => job.kind,
  queue: (job) => job.queue,
  next: (job) => job.next_run_at,
  last: (job, recent) => recent.get(job.job_id)?.[0]?.scheduled_at ?? null,
};

/** Why a tick did not run, or the error of its run. */
export function reasonOf(run: Pick<OutcomeView, "reason" | "error_message">): string {
  if (run.error_message) return run.error_message;
  const code = run.reason?.["code"];
  if (typeof code !== "string") return "";
  return REASONS[code] ?? code.replaceAll("_", " ");
}

const REASONS: Record<string, string> = {
  overlap: "previous run still active",
  paused: "job was paused",
  queue_paused: "queue was paused",
  blackout: "inside a calendar blackout",
  outage: "no scheduler was running",
  start_deadline: "too late to start",
  edit: "before the job was changed",
};

/** Outcomes for a strip, oldest first; the API returns the newest first. */
export function toOutcomes(runs: readonly OutcomeView[], zone: string): Outcome[] {
  const spans = runs.map((run) => secondsBetween(run.start_time, run.end_time, 0) ?? 0);
  const max = Math.max(...spans, 0.001);
  return runs
    .map((run, index) => ({
      id: run.run_id,
      state: run.status,
      description: describeOutcome(run, zone),
      href: `/runs/${run.run_id}`,
      // Square root: one slow run must not flatten all others.
      size: run.start_time && run.end_time ? Math.sqrt(Math.max(0, spans[index] ?? 0) / max) : 0.2,
    }))
    .reverse();
}

function describeOutcome(run: OutcomeView, zone: string): string {
  const parts = [`${formatTime(run.scheduled_at, zone)}: ${statusLook(run.status).word}`];
  if (run.start_time && run.end_time) parts.push(`after ${formatDuration(secondsBetween(run.start_time, run.end_time, 0) ?? 0)}`);
  const why = reasonOf(run);
  return why ? `${parts.join(" ")}, ${why}` : parts.join(" ");
}

export interface Durations {
  at: number[];
  seconds: (number | null)[];
  states: string[];
  ids: string[];
}

/** The durations of runs by start time: runs of a backfill may start after newer runs. */
export function runDurations(runs: readonly RunView[]): Durations {
  const started = (run: RunView) => Date.parse(run.start_time ?? "");
  const ran = runs.filter((run) => run.start_time && run.end_time).sort((one, other) => started(one) - started(other));
  return {
    at: ran.map((run) => new Date(run.start_time ?? "").getTime()),
    seconds: ran.map((run) => secondsBetween(run.start_time, run.end_time, 0)),
    states: ran.map((run) => run.status),
    ids: ran.map((run) => run.run_id),
  };
}

/** "Last 50 ticks: 48 succeeded, 2 dead." */
export function summarizeTicks(runs: readonly RunView[]): string {
  if (runs.length === 0) return "No runs yet.";
  const counts = new Map<string, number>();
  for (const run of runs) counts.set(run.status, (counts.get(run.status) ?? 0) + 1);
  const parts = [...counts].sort((one, other) => other[1] - one[1]).map(([state, number]) => `${number} ${statusLook(state).word}`);
  return `Last ${formatCount(runs.length, "tick")}: ${parts.join(", ")}.`;
}

/** Whether the job runs once; such a job cannot be paused or backfilled. */
export function isOneTime(job: Pick<JobView, "schedule_type">): boolean {
  return job.schedule_type === "IMMEDIATE" || job.schedule_type === "FUTURE";
}
