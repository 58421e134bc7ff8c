// What the overview shows, computed. Pure.
import type { BucketView, RunView, SchedulerView, StatisticsView, WorkerView } from "../../api/schema.gen.ts";
import { count, percent, whole } from "../../lib/figures.ts";
import { length, stamp } from "../../lib/time.ts";

export const SPANS = ["hour", "day", "month"] as const;
export type Span = (typeof SPANS)[number];
export const SECONDS: Record<Span, number> = { hour: 3_600, day: 86_400, month: 30 * 86_400 };

/** Failed for good: what the failure rate of the API counts. A run that expired never ran. */
const FAILED = new Set(["dead", "lost", "quarantined"]);

export interface Outcomes {
  at: number[];
  good: number[];
  unrun: number[];
  bad: number[];
}

/** Runs that ended, in three piles: well, not run at all, badly. */
export function outcomes(buckets: readonly BucketView[], width: number): Outcomes {
  const found: Outcomes = { at: [], good: [], unrun: [], bad: [] };
  for (const bucket of buckets) {
    const sums = { good: 0, unrun: 0, bad: 0 };
    for (const [state, number] of Object.entries(bucket.runs)) sums[pile(state)] += number;
    found.at.push(middle(bucket, width));
    found.good.push(sums.good);
    found.unrun.push(sums.unrun);
    found.bad.push(sums.bad);
  }
  return found;
}

function pile(state: string): "good" | "unrun" | "bad" {
  return FAILED.has(state) ? "bad" : state === "succeeded" ? "good" : "unrun";
}

function middle(bucket: BucketView, width: number): number {
  return new Date(bucket.start).getTime() + (width * 1000) / 2;
}

export interface Waits {
  at: number[];
  half: (number | null)[];
  most: (number | null)[];
  longest: (number | null)[];
}

export function waits(buckets: readonly BucketView[], width: number): Waits {
  return {
    at: buckets.map((bucket) => middle(bucket, width)),
    half: buckets.map((bucket) => bucket.wait_p50_s),
    most: buckets.map((bucket) => bucket.wait_p99_s),
    longest: buckets.map((bucket) => bucket.longest_wait_s),
  };
}

/** "10:20: 34 succeeded, 2 failed". */
export function toldOutcomes(found: Outcomes, index: number, zone: string): string {
  const at = stamp(found.at[index] ?? 0, zone, "minute");
  return `${at}: ${whole(found.good[index] ?? 0)} succeeded, ${whole(found.unrun[index] ?? 0)} not run, ${whole(found.bad[index] ?? 0)} failed`;
}

export function toldWaits(found: Waits, index: number, zone: string): string {
  const at = stamp(found.at[index] ?? 0, zone, "minute");
  const half = found.half[index];
  if (half === null || half === undefined) return `${at}: nothing started`;
  const most = found.most[index] ?? half;
  return `${at}: half within ${length(half)}, 99 % within ${length(most)}, all within ${length(found.longest[index] ?? most)}`;
}

/** Those that have run for longest first. */
export function longest(runs: readonly RunView[], most: number): RunView[] {
  return [...runs]
    .filter((run) => run.start_time !== null)
    .sort((one, other) => (one.start_time ?? "").localeCompare(other.start_time ?? ""))
    .slice(0, most);
}

export interface Depth {
  waiting: number;
  oldest: number | null;
}

export function depth(statistics: StatisticsView): Depth {
  const waits_ = statistics.queues.map((queue) => queue.oldest_wait_s ?? 0);
  return {
    waiting: statistics.queues.reduce((sum, queue) => sum + queue.waiting, 0),
    oldest: waits_.length > 0 ? Math.max(...waits_) : null,
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
  const held = schedulers.reduce((sum, each) => sum + each.shards.length, 0);
  const about = { name: "Schedulers", href: "/workers" };
  if (schedulers.length === 0) return { ...about, tone: "bad", sentence: "No scheduler is alive: nothing fires. Start one with rota scheduler." };
  if (held < SHARDS) return { ...about, tone: "warn", sentence: `${count(SHARDS - held, "shard")} of ${SHARDS} have no owner at the moment; their jobs fire late.` };
  return { ...about, tone: "good", sentence: `${count(schedulers.length, "scheduler")} ${schedulers.length === 1 ? "holds" : "hold"} all ${SHARDS} shards.` };
}

export function workerHealth(workers: readonly WorkerView[]): Health {
  const alive = workers.filter((worker) => worker.is_alive);
  const slots = alive.reduce((sum, worker) => sum + worker.slots, 0);
  const busy = alive.reduce((sum, worker) => sum + worker.running, 0);
  const about = { name: "Workers", href: "/workers" };
  if (alive.length === 0) return { ...about, tone: "bad", sentence: "No worker is alive: runs wait. Start one with rota worker." };
  const full = slots > 0 && busy >= slots;
  const used = `${whole(busy)} of ${count(slots, "slot")} of ${count(alive.length, "worker")} ${busy === 1 ? "is" : "are"} busy`;
  return { ...about, tone: full ? "warn" : "good", sentence: full ? `${used}; more workers would help.` : `${used}.` };
}

export function failureTone(rate: number | null): "good" | "warn" | "bad" | undefined {
  if (rate === null || rate < 0.01) return undefined;
  return rate < 0.05 ? "warn" : "bad";
}

/** Of the runs that came to an end of their own, as the rate is. */
export function failures(statistics: StatisticsView): string {
  const bad = Object.entries(statistics.runs).reduce((sum, [state, number]) => sum + (FAILED.has(state) ? number : 0), 0);
  const tried = bad + (statistics.runs["succeeded"] ?? 0);
  if (tried === 0) return "nothing has ended";
  return `${statistics.is_estimate ? "about " : ""}${whole(bad)} of ${whole(tried)}`;
}

/** Runs that ended, a second, over the whole time. */
export function average(statistics: StatisticsView): number {
  const ended = Object.values(statistics.runs).reduce((sum, number) => sum + number, 0);
  return ended / Math.max(1, (Date.parse(statistics.now) - Date.parse(statistics.since)) / 1000);
}

export function share(rate: number | null): string {
  return rate === null ? "–" : percent(rate);
}

/** How many a second, from the moments at which batches of events came. */
export function perSecond(seen: readonly { at: number; number: number }[], now: number, window: number): number {
  const recent = seen.filter((each) => each.at > now - window);
  return recent.reduce((sum, each) => sum + each.number, 0) / (window / 1000);
}
