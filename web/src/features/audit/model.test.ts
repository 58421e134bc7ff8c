import { expect, test } from "vitest";
import { placeOf, sinceOf } from "./model.ts";

const ID = "0".repeat(32);

test("jobs and runs can be looked at, other things are only named", () => {
  expect(placeOf({ thing: "job", thing_id: `job_${ID}` }).href).toBe(`/jobs/job_${ID}`);
  expect(placeOf({ thing: "run", thing_id: `run_${ID}` }).href).toBe(`/runs/run_${ID}`);
  expect(placeOf({ thing: "run", thing_id: "many" })).toEqual({ text: "run many", href: null });
  expect(placeOf({ thing: "job", thing_id: "javascript:alert(1)" }).href).toBeNull();
});

test("a span begins at a whole minute, and an unknown one nowhere", () => {
  const now = Date.parse("2030-01-02T10:20:30Z");
  expect(sinceOf("hour", now)).toBe("2030-01-02T09:20:00.000Z");
  expect(sinceOf("week", now)).toBe("2029-12-26T10:20:00.000Z");
  expect(sinceOf("soon", now)).toBeNull();
  expect(sinceOf(null, now)).toBeNull();
});
