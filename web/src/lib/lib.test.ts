import { expect, test } from "vitest";
import { compact, count, percent, rate, whole } from "./figures.ts";
import { glimpse, read } from "./json.ts";
import { caption, moments, stacked, ticks } from "./scale.ts";
import { type Schema, fieldsOf, lacking, meaning, textOf, withField } from "./schema.ts";
import { look } from "./states.ts";
import { changed, filled, link, oneOf } from "./url.ts";

test("numbers are short and never lie about being none", () => {
  expect(whole(1_234_567)).toBe("1,234,567");
  expect(compact(1_234)).toBe("1.2 k");
  expect(compact(999_600)).toBe("1 M");
  expect(rate(0)).toBe("0");
  expect(rate(0.004)).toBe("< 0.01");
  expect(percent(0.00001)).toBe("< 0.01 %");
  expect(percent(0.042)).toBe("4.2 %");
  expect(count(1, "run")).toBe("1 run");
  expect(count(2_000, "run")).toBe("2,000 runs");
});

test("the URL keeps what is not changed and drops what is empty", () => {
  const before = new URLSearchParams("q=a&status=dead&status=lost");
  expect(changed(before, { q: null }).toString()).toBe("status=dead&status=lost");
  expect(changed(before, { status: ["missed"] }).toString()).toBe("q=a&status=missed");
  expect(link("/jobs", { label: "team:a&b", q: "" })).toBe("/jobs?label=team%3Aa%26b");
  expect(oneOf("nonsense", ["hour", "day"])).toBe("hour");
});

test("an id in a path cannot become another path", () => {
  expect(filled("/v1/secrets/{name}", { name: "a/../b" })).toBe("/v1/secrets/a%2F..%2Fb");
});

test("broken JSON is told by line and column", () => {
  expect(read('{"a": 1}').value).toEqual({ a: 1 });
  expect(read('{\n  "a": x\n}').error).toMatch(/no JSON/);
  expect(read("  ").error).toMatch(/null for no value/);
  expect(glimpse({ text: "x".repeat(200) }, 20)).toHaveLength(20);
});

test("a chart's lines are at round numbers and reach over its highest value", () => {
  expect(ticks(77)).toEqual([0, 20, 40, 60, 80]);
  expect(ticks(0.19)).toEqual([0, 0.05, 0.1, 0.15, 0.2]);
  expect(ticks(0)).toEqual([0, 1]);
  expect(stacked([[1, 2], [3, null]])).toEqual([[[0, 1], [0, 2]], [[1, 4], [2, 2]]]);
});

test("captions below a chart are on the viewer's clock", () => {
  const from = Date.parse("2026-11-16T09:25:00Z");
  const found = moments(from, from + 3_600_000, 4, "Asia/Kolkata");
  expect(found.map((at) => caption(at, 3_600_000, "Asia/Kolkata"))).toEqual(["15:00", "15:15", "15:30", "15:45"]);
  const days = moments(from, from + 3 * 86_400_000, 4, "Asia/Kolkata");
  expect(days.map((at) => caption(at, 3 * 86_400_000, "Asia/Kolkata"))).toEqual(["11-17", "11-18", "11-19"]);
});

test("a state that we do not know is still shown", () => {
  expect(look("half_done")).toEqual({ tone: "idle", sign: "dot", word: "half done" });
});

const SCHEMA: Schema = {
  type: "object",
  properties: {
    url: { type: "string", description: "Where to send it." },
    method: { enum: ["GET", "POST"], default: "GET" },
    tries: { anyOf: [{ type: "integer", minimum: 1, maximum: 5 }, { type: "null" }] },
    when: { $ref: "#/$defs/When" },
    dry: { type: "boolean" },
  },
  required: ["url"],
  "x-order": ["method", "url"],
  $defs: { When: { type: "object", properties: {} } },
};

test("a payload's schema becomes the fields of a form, in its own order", () => {
  const fields = fieldsOf(SCHEMA);
  expect(fields?.map((field) => [field.name, field.kind, field.isRequired])).toEqual([
    ["method", "choice", false],
    ["url", "text", true],
    ["tries", "integer", false],
    ["when", "json", false],
    ["dry", "yes", false],
  ]);
  expect(fieldsOf({ type: "array" })).toBeNull();
  expect(fieldsOf(null)).toBeNull();
});

test("a reference that leads to itself ends", () => {
  const round: Schema = { properties: { a: { $ref: "#/$defs/A" } }, $defs: { A: { $ref: "#/$defs/A" } } };
  expect(fieldsOf(round)?.[0]?.kind).toBe("json");
});

test("what is typed into a field is checked as the schema says", () => {
  const [, url, tries, when] = fieldsOf(SCHEMA) ?? [];
  if (!url || !tries || !when) throw new Error("fields are missing");
  expect(meaning(tries, "3")).toEqual({ value: 3, error: null });
  expect(meaning(tries, "9").error).toBe("It is at most 5.");
  expect(meaning(tries, "1.5").error).toBe("Write a whole number here.");
  expect(meaning(tries, "")).toEqual({ value: undefined, error: null });
  expect(meaning(when, "{").error).toMatch(/JSON/);
  expect(textOf(when, { a: 1 })).toBe('{"a":1}');
  expect(lacking(fieldsOf(SCHEMA) ?? [], { dry: true })).toEqual(["url"]);
  expect(withField({ a: 1, b: 2 }, "a", undefined)).toEqual({ b: 2 });
});
