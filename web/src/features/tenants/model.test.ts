import { expect, test } from "vitest";
import { quotasOf, quotasText, textsOf } from "./model.ts";

test("an empty field keeps the default", () => {
  expect(quotasOf(textsOf({})).quotas).toEqual({});
  expect(quotasText({})).toBe("");
});

test("quotas are shown as they were typed", () => {
  const texts = textsOf({ max_jobs: 100, min_period: "PT10S" });
  expect(texts.max_jobs).toBe("100");
  expect(quotasOf(texts).quotas).toEqual({ max_jobs: 100, min_period: "PT10S" });
  expect(quotasText({ max_jobs: 100, max_running: null })).toBe("jobs 100, concurrent runs unlimited");
});

test("none removes a quota and stays none", () => {
  const texts = textsOf({ max_jobs: null });
  expect(texts.max_jobs).toBe("none");
  expect(quotasOf(texts).quotas).toEqual({ max_jobs: null });
});

test("an invalid number is reported at its field", () => {
  const { quotas, errors } = quotasOf({ ...textsOf({}), max_running: "10001", max_jobs: "1.5" });
  expect(quotas).toBeNull();
  expect(Object.keys(errors)).toEqual(["max_jobs", "max_running"]);
});
