import { expect, test } from "vitest";
import { filterOf, fitting, keyOf, lasting, listOf, read, sinceOf, these } from "./model.ts";

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

test("a group is known by its task and its fingerprint", () => {
  expect(new Set(GROUPS.map(keyOf)).size).toBe(3);
  expect(read(keyOf(group("a.b c", "00000000000000ff", "x")))).toEqual({ kind: "a.b c", fingerprint: "00000000000000ff" });
  expect(read("job_1.00000000")).toBeNull();
  expect(read(null)).toBeNull();
});

test("a search looks at tasks, jobs, errors, messages and frames", () => {
  expect(fitting(GROUPS, "CUSTOMER")).toEqual([GROUPS[2]]);
  expect(fitting(GROUPS, "import")).toHaveLength(2);
  expect(fitting(GROUPS, "nightly")).toHaveLength(3);
  expect(fitting(GROUPS, " ")).toHaveLength(3);
});

test("what is requeued is what is listed", () => {
  const [since, until] = ["2030-01-01T00:00:00Z", "2030-01-02T00:00:00Z"];
  const shown = { kind: "mail", fingerprint: "0000000000000001", since, until };
  expect(filterOf(shown)).toEqual(shown);
  expect(listOf(shown)).toEqual({ kind: "mail", fingerprint: "0000000000000001", ended_after: since, ended_before: until });
  expect([these(1), these(1200)]).toEqual(["this one", "these 1,200"]);
});

test("a pace tells how long it takes", () => {
  expect(lasting(600, null)).toMatch(/as soon as/);
  expect(lasting(61, 60)).toBe("The last one begins in 60 seconds.");
  expect(lasting(601, 60)).toBe("The last one begins in 10 minutes.");
  expect(lasting(1000, 1)).toBe("The last one begins in 17 hours.");
});

test("a span begins at a whole minute", () => {
  expect(sinceOf("day", Date.parse("2030-01-02T10:20:30Z"))).toBe("2030-01-01T10:20:00.000Z");
});
