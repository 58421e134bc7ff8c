import { expect, test } from "vitest";
import type { TaskBucket, TaskView } from "../../api/schema.gen.ts";
import { kindFromPath, taskPath } from "../../lib/url.ts";
import { formatPartialCount, finishedRuns, describeFinished, failureCount, payloadFields, percentiles, describePercentiles, policyRows, typeOf } from "./model.ts";

const bucket: TaskBucket = { start: "2026-11-16T10:00:00Z", ended: 1200, failed: 3, duration_p50_s: 0.02, duration_p99_s: 1.5, wait_p50_s: null, wait_p99_s: null };

test("a bucket is placed at its middle, with failed runs counted separately", () => {
  const found = finishedRuns([bucket], 3600);
  expect(found).toEqual({ at: [Date.parse("2026-11-16T10:30:00Z")], fine: [1197], failed: [3] });
  expect(describeFinished(found, 0, "UTC")).toBe("2026-11-16 10:30: 1,200 finished, 3 failed");
});

test("percentiles are described in words, also without runs", () => {
  expect(describePercentiles(percentiles([bucket], 3600, "duration"), 0, "UTC")).toBe("2026-11-16 10:30: p50 20 ms, p99 1.5 s");
  expect(describePercentiles(percentiles([bucket], 3600, "wait"), 0, "UTC")).toBe("2026-11-16 10:30: no runs");
});

test("a kind with a slash or a percent sign is one segment of a path", () => {
  expect(taskPath("mail/send 100%")).toBe("/tasks/mail%2Fsend%20100%25");
  expect(kindFromPath("mail%2Fsend")).toBe("mail/send");
  expect(kindFromPath("100%")).toBe("100%");
});

test("failures are counted among the runs that ran", () => {
  expect(failureCount({ failed: 2, runs: { succeeded: 8, cancelled: 5 } } as unknown as TaskView)).toBe("2 of 10");
  expect(failureCount({ failed: 0, runs: {} } as unknown as TaskView)).toBe("no finished runs");
});

test("a partial count is marked with a plus sign", () => {
  expect([formatPartialCount(200_000, true), formatPartialCount(0, true), formatPartialCount(7, false)]).toEqual(["200,000+", "0", "7"]);
});

test("a policy is shown with short durations", () => {
  expect(policyRows({ timeout: "PT1M30S", retries: { max: 3, base: "PT1S" }, when_queue_paused: "skip" })).toEqual([
    ["timeout", "1m30s"],
    ["retries", "max 3, base 1s"],
    ["when queue paused", "skip"],
  ]);
  expect(policyRows(null)).toEqual([]);
});

test("payload fields have readable types", () => {
  const schema = { properties: { n: { type: "integer", minimum: 1 }, how: { enum: ["a", "b"] } }, required: ["n"] };
  expect(payloadFields(schema)?.map((field) => [field.name, typeOf(field), field.isRequired])).toEqual([
    ["n", "whole number from 1", true],
    ["how", "a | b", false],
  ]);
  expect(payloadFields(null)).toBeNull();
});
