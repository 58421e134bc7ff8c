import { expect, test } from "vitest";
import { limitsOf, rateText, shortDuration, textOf } from "./model.ts";

const TEXT = { max: "", count: "", per: "1m", burst: "" };

test("empty fields remove the limits", () => {
  expect(limitsOf(TEXT).limits).toEqual({ max: null, rate: null });
});

test("a rate needs a period, and a burst is optional", () => {
  expect(limitsOf({ max: "20", count: "100", per: "10s", burst: "" }).limits).toEqual({ max: 20, rate: { count: 100, per: "10s" } });
  expect(limitsOf({ ...TEXT, count: "5", per: "soon" })).toEqual({ limits: null, errors: { per: "Must be a duration, for example 1m or 10s." } });
});

test("an invalid number is reported at its field", () => {
  expect(Object.keys(limitsOf({ ...TEXT, max: "many", burst: "-1" }).errors)).toEqual(["max", "burst"]);
  expect(limitsOf({ ...TEXT, max: "10001" }).limits).toBeNull();
});

test("limits are shown as they were typed", () => {
  const rate = { count: 100, per: "PT1M", burst: 10 };
  expect(textOf({ max: 20, rate })).toEqual({ max: "20", count: "100", per: "1m", burst: "10" });
  expect(rateText({ rate })).toBe("100 per 1m, burst 10");
  expect(rateText({ rate: null })).toBeNull();
  expect(shortDuration("P1DT2H")).toBe("1d2h");
});
