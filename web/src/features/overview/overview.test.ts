import { expect, test } from "vitest";
import type { BucketView, RunView, StatisticsView } from "../../api/schema.gen.ts";
import { depth, failures, longest, outcomes, perSecond, schedulerHealth, toldWaits, waits, workerHealth } from "./model.ts";

const bucket = (start: string, runs: Record<string, number>): BucketView => ({ start, runs, mean_wait_s: null, wait_p50_s: null, wait_p99_s: null, longest_wait_s: null, mean_duration_s: null });

test("runs that ended are in three piles, and a bucket stands in its middle", () => {
  const found = outcomes([bucket("2026-11-16T10:00:00Z", { succeeded: 5, dead: 1, lost: 1, skipped: 2 })], 60);
  expect(found).toEqual({ at: [Date.parse("2026-11-16T10:00:30Z")], good: [5], unrun: [2], bad: [2] });
});

test("a wait is told as what half, nearly all and all took", () => {
  const found = waits([{ ...bucket("2026-11-16T10:00:00Z", { succeeded: 5 }), wait_p50_s: 0.003, wait_p99_s: 0.25, longest_wait_s: 4 }, bucket("2026-11-16T10:01:00Z", {})], 60);
  expect(toldWaits(found, 0, "UTC")).toBe("2026-11-16 10:00: half within 3 ms, 99 % within 250 ms, all within 4 s");
  expect(toldWaits(found, 1, "UTC")).toBe("2026-11-16 10:01: nothing started");
});

test("the run that started first has run for longest", () => {
  const runs = [{ run_id: "a", start_time: "2026-11-16T10:00:05Z" }, { run_id: "b", start_time: "2026-11-16T10:00:00Z" }, { run_id: "c", start_time: null }] as RunView[];
  expect(longest(runs, 5).map((run) => run.run_id)).toEqual(["b", "a"]);
});

test("what waits is summed over all queues, and the oldest is the oldest of all", () => {
  const queues = [{ queue: "a", waiting: 2, oldest_wait_s: 5 }, { queue: "b", waiting: 3, oldest_wait_s: 90 }];
  expect(depth({ queues } as StatisticsView)).toEqual({ waiting: 5, oldest: 90 });
  expect(depth({ queues: [] as StatisticsView["queues"] } as StatisticsView)).toEqual({ waiting: 0, oldest: null });
});

test("failures are counted against what ran, as the rate is", () => {
  expect(failures({ runs: { succeeded: 8, dead: 2, skipped: 30 }, is_estimate: false } as unknown as StatisticsView)).toBe("2 of 10");
  expect(failures({ runs: { succeeded: 9, dead: 1 }, is_estimate: true } as unknown as StatisticsView)).toBe("about 1 of 10");
});

test("a missing scheduler, a shard without an owner and a full house are said", () => {
  expect(schedulerHealth([]).tone).toBe("bad");
  expect(schedulerHealth([{ shards: [1, 2] } as never]).sentence).toMatch(/126 shards of 128 have no owner/);
  expect(workerHealth([{ is_alive: false, slots: 4, running: 0 } as never]).tone).toBe("bad");
  expect(workerHealth([{ is_alive: true, slots: 4, running: 4 } as never]).sentence).toMatch(/more workers would help/);
});

test("the rate is what came within the window", () => {
  expect(perSecond([{ at: 1_000, number: 50 }, { at: 9_000, number: 100 }], 11_500, 10_000)).toBe(10);
});
