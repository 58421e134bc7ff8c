import { expect, test } from "vitest";
import type { BucketView, ProblemView, RunView, StatisticsView } from "../../api/schema.gen.ts";
import { countProblems, problemKey, queueDepth, failureCount, longestRunning, groupOutcomes, perSecond, schedulerHealth, describeWaits, collectWaits, workerHealth } from "./model.ts";

const bucket = (start: string, runs: Record<string, number>): BucketView => ({ start, runs, mean_wait_s: null, wait_p50_s: null, wait_p99_s: null, longest_wait_s: null, mean_duration_s: null });

test("finished runs are in three groups, and a bucket is placed at its middle", () => {
  const found = groupOutcomes([bucket("2026-11-16T10:00:00Z", { succeeded: 5, dead: 1, lost: 1, skipped: 2 })], 60);
  expect(found).toEqual({ at: [Date.parse("2026-11-16T10:00:30Z")], good: [5], unrun: [2], bad: [2] });
});

test("a wait is described by its p50, p99 and maximum", () => {
  const found = collectWaits([{ ...bucket("2026-11-16T10:00:00Z", { succeeded: 5 }), wait_p50_s: 0.003, wait_p99_s: 0.25, longest_wait_s: 4 }, bucket("2026-11-16T10:01:00Z", {})], 60);
  expect(describeWaits(found, 0, "UTC")).toBe("2026-11-16 10:00: p50 3 ms, p99 250 ms, max 4 s");
  expect(describeWaits(found, 1, "UTC")).toBe("2026-11-16 10:01: no runs started");
});

test("the run that started first is the longest-running one", () => {
  const runs = [{ run_id: "a", start_time: "2026-11-16T10:00:05Z" }, { run_id: "b", start_time: "2026-11-16T10:00:00Z" }, { run_id: "c", start_time: null }] as RunView[];
  expect(longestRunning(runs, 5).map((run) => run.run_id)).toEqual(["b", "a"]);
});

test("waiting runs are summed over all queues, and the oldest wait is the oldest of all queues", () => {
  const queues = [{ queue: "a", waiting: 2, oldest_wait_s: 5 }, { queue: "b", waiting: 3, oldest_wait_s: 90 }];
  expect(queueDepth({ queues } as StatisticsView)).toEqual({ waiting: 5, oldest: 90 });
  expect(queueDepth({ queues: [] as StatisticsView["queues"] } as StatisticsView)).toEqual({ waiting: 0, oldest: null });
});

test("failures are counted among the runs that ran, like the failure rate", () => {
  expect(failureCount({ runs: { succeeded: 8, dead: 2, skipped: 30 }, is_estimate: false } as unknown as StatisticsView)).toBe("2 of 10");
  expect(failureCount({ runs: { succeeded: 9, dead: 1 }, is_estimate: true } as unknown as StatisticsView)).toBe("about 1 of 10");
});

test("health reports a missing scheduler, a shard without an owner, and busy workers", () => {
  expect(schedulerHealth([]).tone).toBe("bad");
  expect(schedulerHealth([{ shards: [1, 2] } as never]).sentence).toMatch(/126 shards of 128 have no owner/);
  expect(workerHealth([{ is_alive: false, slots: 4, running: 0 } as never]).tone).toBe("bad");
  expect(workerHealth([{ is_alive: true, slots: 4, running: 4 } as never]).sentence).toMatch(/add workers to run more/);
});

test("the rate counts the events within the window", () => {
  expect(perSecond([{ at: 1_000, number: 50 }, { at: 9_000, number: 100 }], 11_500, 10_000)).toBe(10);
});

const problem: ProblemView = { code: "quarantined", sentence: "", cause: null, since: null, severity: "warning", subject: { kind: "job", id: "1", name: "a" }, remedy: "", action: null, links: {} };

test("problems are counted by severity", () => {
  expect(countProblems([problem, { ...problem, severity: "page" }, problem])).toBe("1 page, 2 warnings");
  expect(countProblems([])).toBe("");
});

test("problems of the same code are distinguished by subject, incident and group", () => {
  const keys = [problem, { ...problem, links: { incident: "/alerts/1" } }, { ...problem, subject: { ...problem.subject, id: "2" } }].map(problemKey);
  expect(new Set(keys).size).toBe(3);
});
