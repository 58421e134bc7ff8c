import { expect, test } from "vitest";
import { mergePatch } from "./mergepatch.ts";

test("a patch replaces, adds and removes fields", () => {
  expect(mergePatch({ a: 1, b: { c: 2, d: 3 } }, { a: null, b: { c: 4 }, e: [5] })).toEqual({ b: { c: 4, d: 3 }, e: [5] });
  expect(mergePatch(null, { a: { b: null } })).toEqual({ a: {} });
  expect(mergePatch({ a: 1 }, "all")).toBe("all");
});
