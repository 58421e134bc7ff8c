import { expect, test } from "vitest";
import { resourceOf, sinceOf } from "./model.ts";

const ID = "0".repeat(32);

test("jobs and runs have links, other resources only a name", () => {
  expect(resourceOf({ thing: "job", thing_id: `job_${ID}` }).href).toBe(`/jobs/job_${ID}`);
  expect(resourceOf({ thing: "run", thing_id: `run_${ID}` }).href).toBe(`/runs/run_${ID}`);
  expect(resourceOf({ thing: "run", thing_id: "many" })).toEqual({ text: "run many", href: null });
  expect(resourceOf({ thing: "job", thing_id: "javascript:alert(1)" }).href).toBeNull();
});

test("a time span starts at a whole minute, and an unknown one has no start", () => {
  const now = Date.parse("2030-01-02T10:20:30Z");
  expect(sinceOf("hour", now)).toBe("2030-01-02T09:20:00.000Z");
  expect(sinceOf("week", now)).toBe("2029-12-26T10:20:00.000Z");
  expect(sinceOf("soon", now)).toBeNull();
  expect(sinceOf(null, now)).toBeNull();
});
