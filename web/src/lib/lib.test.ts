import { expect, test } from "vitest";
import { formatCompact, formatCount, formatPercent, formatRate, formatInteger } from "./figures.ts";
import { previewJson, parseJson } from "./json.ts";
import { axisCaption, axisTimes, stackLayers, axisTicks } from "./scale.ts";
import { type Schema, fieldsOf, missingFields, parseField, fieldText, withField } from "./schema.ts";
import { statusLook } from "./states.ts";
import { withQuery, fillPath, linkTo, oneOf } from "./url.ts";

test("numbers are short, and a small number is never shown as zero", () => {
  expect(formatInteger(1_234_567)).toBe("1,234,567");
  expect(formatCompact(1_234)).toBe("1.2 k");
  expect(formatCompact(999_600)).toBe("1 M");
  expect(formatRate(0)).toBe("0");
  expect(formatRate(0.004)).toBe("< 0.01");
  expect(formatPercent(0.00001)).toBe("< 0.01 %");
  expect(formatPercent(0.042)).toBe("4.2 %");
  expect(formatCount(1, "run")).toBe("1 run");
  expect(formatCount(2_000, "run")).toBe("2,000 runs");
});

test("the URL keeps unchanged values and drops empty ones", () => {
  const before = new URLSearchParams("q=a&status=dead&status=lost");
  expect(withQuery(before, { q: null }).toString()).toBe("status=dead&status=lost");
  expect(withQuery(before, { status: ["missed"] }).toString()).toBe("q=a&status=missed");
  expect(linkTo("/jobs", { label: "team:a&b", q: "" })).toBe("/jobs?label=team%3Aa%26b");
  expect(oneOf("nonsense", ["hour", "day"])).toBe("hour");
});

test("an id in a path cannot become another path", () => {
  expect(fillPath("/v1/secrets/{name}", { name: "a/../b" })).toBe("/v1/secrets/a%2F..%2Fb");
});

test("an error in JSON names its line and column", () => {
  expect(parseJson('{"a": 1}').value).toEqual({ a: 1 });
  expect(parseJson('{\n  "a": x\n}').error).toMatch(/Invalid JSON/);
  expect(parseJson("  ").error).toMatch(/null for no value/);
  expect(previewJson({ text: "x".repeat(200) }, 20)).toHaveLength(20);
});

test("the lines of a chart are at round numbers and reach above its highest value", () => {
  expect(axisTicks(77)).toEqual([0, 20, 40, 60, 80]);
  expect(axisTicks(0.19)).toEqual([0, 0.05, 0.1, 0.15, 0.2]);
  expect(axisTicks(0)).toEqual([0, 1]);
  expect(stackLayers([[1, 2], [3, null]])).toEqual([[[0, 1], [0, 2]], [[1, 4], [2, 2]]]);
});

test("captions below a chart are in the viewer's time zone", () => {
  const from = Date.parse("2026-11-16T09:25:00Z");
  const found = axisTimes(from, from + 3_600_000, 4, "Asia/Kolkata");
  expect(found.map((at) => axisCaption(at, 3_600_000, "Asia/Kolkata"))).toEqual(["15:00", "15:15", "15:30", "15:45"]);
  const days = axisTimes(from, from + 3 * 86_400_000, 4, "Asia/Kolkata");
  expect(days.map((at) => axisCaption(at, 3 * 86_400_000, "Asia/Kolkata"))).toEqual(["11-17", "11-18", "11-19"]);
});

test("an unknown state is still shown", () => {
  expect(statusLook("half_done")).toEqual({ tone: "idle", icon: "dot", word: "half done" });
});

const SCHEMA: Schema = {
  type: "object",
  properties: {
    url: { type: "string", description: "Where to send the request." },
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

test("a circular reference ends", () => {
  const round: Schema = { properties: { a: { $ref: "#/$defs/A" } }, $defs: { A: { $ref: "#/$defs/A" } } };
  expect(fieldsOf(round)?.[0]?.kind).toBe("json");
});

test("the text of a field is validated against the schema", () => {
  const [, url, tries, when] = fieldsOf(SCHEMA) ?? [];
  if (!url || !tries || !when) throw new Error("fields are missing");
  expect(parseField(tries, "3")).toEqual({ value: 3, error: null });
  expect(parseField(tries, "9").error).toBe("Must be at most 5.");
  expect(parseField(tries, "1.5").error).toBe("Must be a whole number.");
  expect(parseField(tries, "")).toEqual({ value: undefined, error: null });
  expect(parseField(when, "{").error).toMatch(/JSON/);
  expect(fieldText(when, { a: 1 })).toBe('{"a":1}');
  expect(missingFields(fieldsOf(SCHEMA) ?? [], { dry: true })).toEqual(["url"]);
  expect(withField({ a: 1, b: 2 }, "a", undefined)).toEqual({ b: 2 });
});
