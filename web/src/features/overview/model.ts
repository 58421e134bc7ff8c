// Computes what the overview shows. Pure.
import type { BucketView, ProblemView, RunView, SchedulerView, StatisticsView, WorkerView } from "../../api/schema.gen.ts";
import { formatCount, formatPercent, formatInteger } from "../../lib/figures.ts";
import { formatDuration, formatTime } from "../../lib/time.ts";

export const SPANS = ["hour", "day", "month"] as const;
export type Span = (typeof SPANS)[number];
export const SECONDS: Record<Span, number> = { hour: 3_600, day: 86_400, month: 30 * 86_400 };

/** The statuses that the API's failure rate counts. An expired run never ran. */
const FAILED = new Set(["dead", "lost", "quarantined"]);

export interface Outcomes {
  at: number[];
  good: number[];
  unrun: number[];
  bad: number[];
}

/** Finished runs in three groups: succeeded, not run, failed. */
export function groupOutcomes(buckets: readonly BucketView[], width: number): Outcomes {
  const found: Outcomes = { at: [], good: [], unrun: [], bad: [] };
  for (const bucket of buckets) {
    const sums = { good: 0, unrun: 0, bad: 0 };
    for (const [state, number] of Object.entries(bucket.runs)) sums[groupOf(state)] += number;
    found.at.push(middleOf(bucket, width));
    found.good.push(sums.good);
    found.unrun.push(sums.unrun);
    found.bad.push(sums.bad);
  }
  return found;
}

function groupOf(state: string): "good" | "unrun" | "bad" {
  return FAILED.has(state) ? "bad" : state === "succeeded" ? "good" : "unrun";
}

function middleOf(bucket: BucketView, width: number): number {
  return new Date(bucket.start).getTime() + (width * 1000) / 2;
}

export interface Waits {
  at: number[];
  p50: (number | null)[];
  p99: (number | null)[];
  longest: (number | null)[];
}

export function collectWaits(buckets: readonly BucketView[], width: number): Waits {
  return {
    at: buckets.map((bucket) => middleOf(bucket, width)),
    p50: buckets.map((bucket) => bucket.wait_p50_s),
    p99: buckets.map((bucket) => bucket.wait_p99_s),
    longest: buckets.map((bucket) => bucket.longest_wait_s),
  };
}

/** "10:20: 34 succeeded, 2 failed". */
export function describeOutcomes(found: Outcomes, index: number, zone: string): string {
  const at = formatTime(found.at[index] ?? 0, zone, "minute");
  return `${at}: ${formatInteger(found.good[index] ?? 0)} succeeded, ${formatInteger(found.unrun[index] ?? 0)} not run, ${formatInteger(found.bad[index] ?? 0)} failed`;
}

export function describeWaits(found: Waits, index: number, zone: string): string {
  const at = formatTime(found.at[index] ?? 0, zone, "minute");
  const p50 = found.p50[index];
  if (p50 === null || p50 === undefined) return `${at}: no runs started`;
  const p99 = found.p99[index] ?? p50;
  return `${at}: p50 ${formatDuration(p50)}, p99 ${formatDuration(p99)}, max ${formatDuration(found.longest[index] ?? p99)}`;
}

/** The longest-running runs, longest first. */
export function longestRunning(runs: readonly RunView[], limit: number): RunView[] {
  return [...runs]
    .filter((run) => run.start_time !== null)
    .sort((one, other) => (one.start_time ?? "").localeCompare(other.start_time ?? ""))
    .slice(0, limit);
}

export interface Depth {
  waiting: number;
  oldest: number | null;
}

export function queueDepth(statistics: StatisticsView): Depth {
  const ages = statistics.queues.map((queue) => queue.oldest_wait_s ?? 0);
  return {
    waiting: statistics.queues.reduce((sum, queue) => sum + queue.waiting, 0),
    oldest: ages.length > 0 ? Math.max(...ages) : null,
  };
}

export interface Health {
  name: string;
  tone: "good" | "warn" | "bad";
  sentence: string;
  href: string | null;
}

export const SHARDS = 128;

export function schedulerHealth(schedulers: readonly SchedulerView[]): Health {
  const held = schedulers.reduce((sum, scheduler) => sum + scheduler.shards.length, 0);
  const about = { name: "Schedulers", href: "/workers" };
  if (schedulers.length === 0) return { ...about, tone: "bad", sentence: "No scheduler is running, so no job fires. Start one with rota scheduler." };
  if (held < SHARDS) return { ...about, tone: "warn", sentence: `${formatCount(SHARDS - held, "shard")} of ${SHARDS} have no owner; their jobs fire late.` };
  return { ...about, tone: "good", sentence: `${formatCount(schedulers.length, "scheduler")} ${schedulers.length === 1 ? "holds" : "hold"} all ${SHARDS} shards.` };
}

export function workerHealth(workers: readonly WorkerView[]): Health {
  const alive = workers.filter((worker) => worker.is_alive);
  const slots = alive.reduce((sum, worker) => sum + worker.slots, 0);
  const busy = alive.reduce((sum, worker) => sum + worker.running, 0);
  const about = { name: "Workers", href: "/workers" };
  if (alive.length === 0) return { ...about, tone: "bad", sentence: "No worker is running, so runs wait. Start one with rota worker." };
  const full = slots > 0 && busy >= slots;
  const used = `${formatInteger(busy)} of ${formatCount(slots, "slot")} busy on ${formatCount(alive.length, "worker")}`;
  return { ...about, tone: full ? "warn" : "good", sentence: full ? `${used}; add workers to run more.` : `${used}.` };
}

export function failureTone(rate: number | null): "good" | "warn" | "bad" | undefined {
  if (rate === null || rate < 0.01) return undefined;
  return rate < 0.05 ? "warn" : "bad";
}

/** "2 of 10": failed runs among those that succeeded or failed, like the failure rate. */
export function failureCount(statistics: StatisticsView): string {
  const bad = Object.entries(statistics.runs).reduce((sum, [state, number]) => sum + (FAILED.has(state) ? number : 0), 0);
  const total = bad + (statistics.runs["succeeded"] ?? 0);
  if (total === 0) return "no finished runs";
  return `${statistics.is_estimate ? "about " : ""}${formatInteger(bad)} of ${formatInteger(total)}`;
}

/** Finished runs per second over the whole period. */
export function averageRate(statistics: StatisticsView): number {
  const ended = Object.values(statistics.runs).reduce((sum, number) => sum + number, 0);
  return ended / Math.max(1, (Date.parse(statistics.now) - Date.parse(statistics.since)) / 1000);
}

export function formatShare(rate: number | null): string {
  return rate === null ? "–" : formatPercent(rate);
}

/** Events per second, from the times of their batches. */
export function perSecond(seen: readonly { at: number; number: number }[], now: number, window: number): number {
  const recent = seen.filter((batch) => batch.at > now - window);
  return recent.reduce((sum, batch) => sum + batch.number, 0) / (window / 1000);
}

/** Problems have no id: what they are about and what they say identifies them. */
export function problemKey(problem: ProblemView): string {
  return [problem.code, problem.subject.kind, problem.subject.id, problem.links["incident"] ?? problem.links["group"] ?? ""].join(" ");
}

/** "1 page, 2 warnings". */
export function countProblems(problems: readonly ProblemView[]): string {
  const count = (severity: string) => problems.filter((problem) => problem.severity === severity).length;
  const parts: readonly (readonly [number, string, string])[] = [
    [count("page"), "page", "pages"],
    [count("warning"), "warning", "warnings"],
    [count("info"), "info", "info"],
  ];
  return parts
    .filter(([number]) => number > 0)
    .map(([number, one, many]) => formatCount(number, one, many))
    .join(", ");
}

/** The words of a link to a page of the dashboard. */
export function linkLabel(name: string): string {
  return `Show ${name}`;
}
