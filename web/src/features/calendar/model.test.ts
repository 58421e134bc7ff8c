import { describe, expect, it } from "vitest";
import type { LoadView } from "../../api/schema.gen.ts";
import { dateOf, describeEstimates, busiestCells, levelOf, shiftDate, quietWindows, describeQuiet, rowsOf, spanOf } from "./model.ts";

const span = spanOf("day", "2026-11-16", "UTC");
const load = (...parts: [number, number][]): LoadView => ({
  since: new Date(span.start).toISOString(),
  until: new Date(span.end).toISOString(),
  width_s: 60,
  buckets: parts.map(([minute, ticks]) => ({ start: new Date(span.start + minute * 60_000).toISOString(), ticks })),
  jobs: 2,
  unknown: 0,
  busiest: [],
  is_estimate: false,
});

describe("a day", () => {
  it("has a row for each hour and a cell for each minute", () => {
    const rows = rowsOf(span, load([61, 4]), "UTC");
    expect(rows.length).toBe(Math.round((span.end - span.start) / 3_600_000));
    expect(rows[0]?.cells.length).toBe(60);
    expect(rows[1]?.cells[1]?.ticks).toBe(4);
    expect(rows[1]?.cells[1]?.level).toBe(5);
  });
  it("is read from the URL", () => {
    const now = Date.parse("2026-01-01T23:30:00Z");
    expect(dateOf("2026-02-28", now, "UTC")).toBe("2026-02-28");
    expect(dateOf("nonsense", now, "UTC")).toBe("2026-01-01");
    expect(dateOf(null, now, "Europe/Berlin")).toBe("2026-01-02");
    expect(shiftDate("week", "2026-12-30", 1)).toBe("2027-01-06");
    expect(shiftDate("day", "2026-03-01", -1)).toBe("2026-02-28");
  });
  it("starts at midnight of its zone, and has that day's length", () => {
    const change = spanOf("day", "2026-03-29", "Europe/Berlin");
    expect(new Date(change.start).toISOString()).toBe("2026-03-28T23:00:00.000Z");
    expect((change.end - change.start) / 3_600_000).toBe(23);
  });
  it("shows a single tick beside a busy cell", () => {
    expect(levelOf(1, 1000)).toBe(1);
    expect(levelOf(0, 1000)).toBe(0);
    expect(levelOf(1000, 1000)).toBe(5);
  });
  it("shows a busy cell above a constant load", () => {
    expect(levelOf(78, 81, 78)).toBe(1);
    expect(levelOf(81, 81, 78)).toBe(5);
    expect(levelOf(78, 78, 78)).toBe(1);
  });
});

describe("a week", () => {
  it("starts on Monday", () => {
    const week = spanOf("week", "2026-11-15", "America/New_York");
    expect(new Date(week.start).toISOString()).toBe("2026-11-09T05:00:00.000Z");
    expect(rowsOf(week, load(), "America/New_York")[0]?.label).toBe("Mon 11-09");
  });
});

describe("estimates", () => {
  it("names the jobs that are estimated", () => {
    const job = (job_name: string, is_estimate: boolean) => ({ job_id: job_name, job_name, ticks: 1, is_estimate });
    expect(describeEstimates({ ...load(), busiest: [job("a", true), job("b", false)] })).toMatch(/count: a\. All other jobs are exact/);
    expect(describeEstimates(load())).toMatch(/Too many schedules/);
  });
});

describe("findings", () => {
  it("names the busiest minutes, not those with one tick", () => {
    expect(busiestCells(load([1, 1], [2, 9], [3, 5])).map((cell) => cell.ticks)).toEqual([9, 5]);
  });
  it("names the longest quiet windows", () => {
    const found = quietWindows(span, load([0, 1], [60, 1], [300, 1]), span.start);
    expect(found.map((each) => (each.end - each.start) / 60_000)).toEqual([1139, 239, 59]);
    expect(describeQuiet([], "day", "UTC")).toContain("No quiet window");
    expect(describeQuiet(found, "day", "UTC")).toMatch(/^Quiet windows: \d\d:\d\d to \d\d:\d\d/);
  });
});
