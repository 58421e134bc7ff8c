import { expect, test } from "vitest";
import { filterOf, filterGroups, keyOf, describePace, listOf, parseKey, sinceOf, formatRuns } from "./model.ts";

const group = (kind: string, fingerprint: string, message: string) => ({
  kind,
  error_type: "TimeoutError",
  message,
  frame: `shop.${kind}:run`,
  fingerprint,
  count: 1,
  first_seen: "2030-01-01T00:00:00Z",
  last_seen: "2030-01-01T00:00:00Z",
  counts_per_hour: [],
  versions: [1],
  jobs: [{ job_id: "job_1", job_name: "nightly", count: 1 }],
  job_count: 1,
  sample_run_id: "run_1",
});
const GROUPS = [group("import", "0000000000000001", "no answer"), group("import", "0000000000000002", "too late"), group("mail", "0000000000000001", "no such customer")];

test("a group is identified by its task and its fingerprint", () => {
  expect(new Set(GROUPS.map(keyOf)).size).toBe(3);
  expect(parseKey(keyOf(group("a.b c", "00000000000000ff", "x")))).toEqual({ kind: "a.b c", fingerprint: "00000000000000ff" });
  expect(parseKey("job_1.00000000")).toBeNull();
  expect(parseKey(null)).toBeNull();
});

test("a search looks at tasks, jobs, errors, messages and frames", () => {
  expect(filterGroups(GROUPS, "CUSTOMER")).toEqual([GROUPS[2]]);
  expect(filterGroups(GROUPS, "import")).toHaveLength(2);
  expect(filterGroups(GROUPS, "nightly")).toHaveLength(3);
  expect(filterGroups(GROUPS, " ")).toHaveLength(3);
});

test("the action covers exactly the listed runs", () => {
  const [since, until] = ["2030-01-01T00:00:00Z", "2030-01-02T00:00:00Z"];
  const shown = { kind: "mail", fingerprint: "0000000000000001", since, until };
  expect(filterOf(shown)).toEqual(shown);
  expect(listOf(shown)).toEqual({ kind: "mail", fingerprint: "0000000000000001", ended_after: since, ended_before: until });
  expect([formatRuns(1), formatRuns(1200)]).toEqual(["1 run", "1,200 runs"]);
});

test("a pace shows when the last run starts", () => {
  expect(describePace(600, null)).toMatch(/as soon as/);
  expect(describePace(61, 60)).toBe("The last run starts in 60 seconds.");
  expect(describePace(601, 60)).toBe("The last run starts in 10 minutes.");
  expect(describePace(1000, 1)).toBe("The last run starts in 17 hours.");
});

test("a time span starts at a whole minute", () => {
  expect(sinceOf("day", Date.parse("2030-01-02T10:20:30Z"))).toBe("2030-01-01T10:20:00.000Z");
});
