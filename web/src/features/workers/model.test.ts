import { expect, test } from "vitest";
import { ranges, shares, stateOf } from "./model.ts";

test("a stopped worker is not draining", () => {
  expect(stateOf({ is_alive: false, is_draining: true })).toBe("stopped");
  expect(stateOf({ is_alive: true, is_draining: true })).toBe("draining");
  expect(stateOf({ is_alive: true, is_draining: false })).toBe("active");
});

test("consecutive numbers are one range", () => {
  expect(ranges([3, 1, 2, 7, 9, 10])).toBe("1–3, 7, 9–10");
  expect(ranges([])).toBe("");
});

test("shards without a scheduler are found", () => {
  const shards = [
    { shard: 0, scheduler: "b" },
    { shard: 1, scheduler: null },
    { shard: 2, scheduler: "a" },
    { shard: 3, scheduler: "a" },
  ];
  expect(shares(shards)).toEqual({ owners: ["a", "b"], orphans: [1] });
});
