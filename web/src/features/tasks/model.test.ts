import { expect, test } from "vitest";
import type { TaskBucket, TaskView } from "../../api/schema.gen.ts";
import { kindIn, taskPath } from "../../lib/url.ts";
import { counted, ended, endedText, failures, payloadFields, percentiles, percentilesText, policyRows, typeOf } from "./model.ts";

const bucket: TaskBucket = { start: "2026-11-16T10:00:00Z", ended: 1200, failed: 3, duration_p50_s: 0.02, duration_p99_s: 1.5, wait_p50_s: null, wait_p99_s: null };

test("a bucket stands in its middle, with failed runs apart", () => {
  const found = ended([bucket], 3600);
  expect(found).toEqual({ at: [Date.parse("2026-11-16T10:30:00Z")], fine: [1197], failed: [3] });
  expect(endedText(found, 0, "UTC")).toBe("2026-11-16 10:30: 1,200 ended, 3 failed");
});

test("percentiles are told in words, also where nothing ran", () => {
  expect(percentilesText(percentiles([bucket], 3600, "duration"), 0, "UTC")).toBe("2026-11-16 10:30: median 20 ms, 99 % 1.5 s");
  expect(percentilesText(percentiles([bucket], 3600, "wait"), 0, "UTC")).toBe("2026-11-16 10:30: no runs");
});

test("a kind with a slash or a percent sign is one part of a path", () => {
  expect(taskPath("mail/send 100%")).toBe("/tasks/mail%2Fsend%20100%25");
  expect(kindIn("mail%2Fsend")).toBe("mail/send");
  expect(kindIn("100%")).toBe("100%");
});

test("failures are counted against what ran", () => {
  expect(failures({ failed: 2, runs: { succeeded: 8, cancelled: 5 } } as unknown as TaskView)).toBe("2 of 10");
  expect(failures({ failed: 0, runs: {} } as unknown as TaskView)).toBe("nothing ended");
});

test("a count that stopped at its bound says so", () => {
  expect([counted(200_000, true), counted(0, true), counted(7, false)]).toEqual(["200,000+", "0", "7"]);
});

test("a policy is told with short durations", () => {
  expect(policyRows({ timeout: "PT1M30S", retries: { max: 3, base: "PT1S" }, when_queue_paused: "skip" })).toEqual([
    ["timeout", "1m30s"],
    ["retries", "max 3, base 1s"],
    ["when queue paused", "skip"],
  ]);
  expect(policyRows(null)).toEqual([]);
});

test("the fields of a payload have types for people", () => {
  const schema = { properties: { n: { type: "integer", minimum: 1 }, how: { enum: ["a", "b"] } }, required: ["n"] };
  expect(payloadFields(schema)?.map((field) => [field.name, typeOf(field), field.isRequired])).toEqual([
    ["n", "whole number from 1", true],
    ["how", "a | b", false],
  ]);
  expect(payloadFields(null)).toBeNull();
});
