// What the list and the page of a job show, computed. Pure.
import type { Recent } from "../../api/outcomes.ts";
import type { JobView, OutcomeView, RunView } from "../../api/schema.gen.ts";
import { count } from "../../lib/figures.ts";
import { look } from "../../lib/states.ts";
import { between, brief, length, stamp } from "../../lib/time.ts";
import type { Outcome } from "../../ui/Strip.tsx";

/** When it runs, all its rules in a few words; the page of a job has the whole sentence. */
export function when(job: Pick<JobView, "schedule" | "schedule_type" | "timezone" | "schedule_time">): string {
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
  fixed_delay: (value) => interval(value, "delay", (length) => `${length} after it ended`),
  event: (value) => (typeof value === "string" ? `on ${value}` : null),
};

function interval(value: unknown, field: string, said: (length: string) => string): string | null {
  const text = isRecord(value) ? value[field] : value;
  return typeof text === "string" ? said(brief(text)) : null;
}

const TYPES: Record<string, string> = {
  IMMEDIATE: "once, at once",
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

/** "-name" is name, downwards; nothing is as the API has it: newest first. */
export function sorting(text: string | null): Sorting | null {
  if (!text) return null;
  return { by: text.replace(/^-/, ""), down: text.startsWith("-") };
}

export function sorted(jobs: readonly JobView[], sort: Sorting | null, recent: Recent): JobView[] {
  if (!sort) return [...jobs];
  const key = KEYS[sort.by];
  if (!key) return [...jobs];
  const signed = sort.down ? -1 : 1;
  return [...jobs].sort((one, other) => {
    const [a, b] = [key(one, recent), key(other, recent)];
    // What has none comes last, whichever way.
    if (a === null || b === null) return a === b ? 0 : a === null ? 1 : -1;
    return signed * (a < b ? -1 : a > b ? 1 : 0);
  });
}

const KEYS: Record<string, (job: JobView, recent: Recent) => string | null> = {
  name: (job) => job.name.toLowerCase(),
  status: (job) => job.status,
  kind: (job) => job.kind,
  queue: (job) => job.queue,
  next: (job) => job.next_run_at,
  last: (job, recent) => recent.get(job.job_id)?.[0]?.scheduled_at ?? null,
};

/** Why a tick did not become a run, or how its run ended. */
export function reasonOf(run: Pick<OutcomeView, "reason" | "error_message">): string {
  if (run.error_message) return run.error_message;
  const code = run.reason?.["code"];
  if (typeof code !== "string") return "";
  return REASONS[code] ?? code.replaceAll("_", " ");
}

const REASONS: Record<string, string> = {
  overlap: "the run before it was still alive",
  paused: "the job was paused",
  queue_paused: "its queue was paused",
  blackout: "a calendar forbids that time",
  outage: "no scheduler was there to fire it",
  start_deadline: "it was too late to start",
  edit: "it was before the job was changed",
};

/** Oldest first, for a strip; the API tells the newest first. */
export function outcomes(runs: readonly OutcomeView[], zone: string): Outcome[] {
  const spans = runs.map((run) => between(run.start_time, run.end_time, 0) ?? 0);
  const most = Math.max(...spans, 0.001);
  return runs
    .map((run, index) => ({
      id: run.run_id,
      state: run.status,
      told: told(run, zone),
      href: `/runs/${run.run_id}`,
      // By the root: one slow run must not flatten all others.
      size: run.start_time && run.end_time ? Math.sqrt(Math.max(0, spans[index] ?? 0) / most) : 0.2,
    }))
    .reverse();
}

function told(run: OutcomeView, zone: string): string {
  const parts = [`${stamp(run.scheduled_at, zone)}: ${look(run.status).word}`];
  if (run.start_time && run.end_time) parts.push(`after ${length(between(run.start_time, run.end_time, 0) ?? 0)}`);
  const why = reasonOf(run);
  return why ? `${parts.join(" ")}, ${why}` : parts.join(" ");
}

export interface Durations {
  at: number[];
  seconds: (number | null)[];
  states: string[];
  ids: string[];
}

/** How long runs took that ran, by when they started: a backfill's runs started after newer ones. */
export function durations(runs: readonly RunView[]): Durations {
  const started = (run: RunView) => Date.parse(run.start_time ?? "");
  const ran = runs.filter((run) => run.start_time && run.end_time).sort((one, other) => started(one) - started(other));
  return {
    at: ran.map((run) => new Date(run.start_time ?? "").getTime()),
    seconds: ran.map((run) => between(run.start_time, run.end_time, 0)),
    states: ran.map((run) => run.status),
    ids: ran.map((run) => run.run_id),
  };
}

/** "Of the last 50: 48 succeeded, 2 dead". */
export function tally(runs: readonly RunView[]): string {
  if (runs.length === 0) return "It has not run yet.";
  const counts = new Map<string, number>();
  for (const run of runs) counts.set(run.status, (counts.get(run.status) ?? 0) + 1);
  const parts = [...counts].sort((one, other) => other[1] - one[1]).map(([state, number]) => `${number} ${look(state).word}`);
  return `Of the last ${count(runs.length, "tick")}: ${parts.join(", ")}.`;
}

/** Whether it runs once: then there is nothing to pause and nothing to backfill. */
export function isOneTime(job: Pick<JobView, "schedule_type">): boolean {
  return job.schedule_type === "IMMEDIATE" || job.schedule_type === "FUTURE";
}
