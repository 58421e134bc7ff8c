import { expect, test } from "vitest";
import { filterOf, find, fitting, keyOf, lasting, sinceOf } from "./model.ts";

const group = (job: string, error_type: string, message: string) => ({
  job_id: `job_${job}`,
  job_name: job,
  error_type,
  message,
  count: 1,
  first_seen: "2030-01-01T00:00:00Z",
  last_seen: "2030-01-01T00:00:00Z",
  sample_run_id: "run_1",
});
const GROUPS = [group("import", "TimeoutError", "no answer"), group("import", "TimeoutError", "too late"), group("mail", "Fail", "no such customer")];

test("groups of one job and error type are told apart by their message", () => {
  expect(new Set(GROUPS.map(keyOf)).size).toBe(3);
  expect(find(GROUPS, keyOf(group("import", "TimeoutError", "too late")))).toBe(GROUPS[1]);
  expect(find(GROUPS, "job_1.00000000")).toBeUndefined();
  expect(find(GROUPS, null)).toBeUndefined();
});

test("a search looks at jobs, errors and messages", () => {
  expect(fitting(GROUPS, "CUSTOMER")).toEqual([GROUPS[2]]);
  expect(fitting(GROUPS, "import")).toHaveLength(2);
  expect(fitting(GROUPS, " ")).toHaveLength(3);
});

test("what is replayed is of one job and one type of error", () => {
  expect(filterOf(group("import", "TimeoutError", "no answer"))).toEqual({ job_id: "job_import", error: "TimeoutError" });
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
