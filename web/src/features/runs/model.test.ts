import { describe, expect, it } from "vitest";
import type { AttemptView, LogLine } from "../../api/schema.gen.ts";
import { filterLines, levelOf, linesOf, otherReason, allowedActions, reasonOf, statusesOf, viewOf, waterfall, withoutError } from "./model.ts";

const at = (second: number) => new Date(Date.UTC(2026, 10, 16, 10, 0, second)).toISOString();
const attempt = (number: number, start: number, end: number | null, outcome: string): AttemptView => ({
  attempt_number: number,
  outcome,
  start_time: at(start),
  end_time: end === null ? null : at(end),
  executor_id: null,
  worker: "w1",
  error_message: null,
  reason: null,
  traceback: null,
});
const piece = (text: string, stream = "stdout"): LogLine => ({ attempt_number: 1, seq: 4, stream, at: at(0), text });

describe("a waterfall", () => {
  it("shows waiting and running times in order", () => {
    const run = { due_at: at(0), created_at: at(0), status: "succeeded" };
    const fall = waterfall(run, [attempt(1, 1, 3, "failed"), attempt(2, 8, 9, "succeeded")], Date.parse(at(60)));
    expect(fall?.bars.map((bar) => [bar.kind, bar.state, (bar.end - bar.start) / 1000])).toEqual([
      ["waited", "queued", 1],
      ["ran", "failed", 2],
      ["waited", "retrying", 5],
      ["ran", "succeeded", 1],
    ]);
  });
  it("lasts until now while an attempt runs or the run waits", () => {
    const now = Date.parse(at(20));
    const running = waterfall({ due_at: at(0), created_at: at(0), status: "running" }, [attempt(1, 0, null, "running")], now);
    const waiting = waterfall({ due_at: at(0), created_at: at(5), status: "queued" }, [], now);
    expect(running?.end).toBe(now);
    expect(waiting?.bars.map((bar) => bar.end - bar.start)).toEqual([15_000]);
  });
  it("is null before the run is due", () => {
    expect(waterfall({ due_at: at(30), created_at: at(0), status: "queued" }, [], Date.parse(at(1)))).toBeNull();
  });
});

describe("a log", () => {
  it("is split into lines without terminal control sequences", () => {
    const lines = linesOf(piece("\u001b[31mred\u001b[0m\r\ntwo\u0007\n"));
    expect(lines.map((line) => line.text)).toEqual(["red", "two"]);
    expect(new Set(lines.map((line) => line.key)).size).toBe(2);
  });
  it("has levels from the prefix of a line, or from its stream", () => {
    expect(levelOf("record", "ERROR shop: no stock")).toBe("error");
    expect(levelOf("stdout", "all is well")).toBe("info");
    expect(levelOf("stderr", "hm")).toBe("warning");
    expect(levelOf("rota", "ERROR")).toBe("rota");
  });
  it("is searched case-insensitively", () => {
    const lines = [...linesOf(piece("One\nTwo\n")), ...linesOf(piece("ERROR two", "record"))];
    expect(filterLines(lines, "TWO", new Set(), null).length).toBe(2);
    expect(filterLines(lines, "two", new Set(["error"]), null).length).toBe(1);
    expect(filterLines(lines, "", new Set(), 2).length).toBe(0);
    expect(filterLines(lines, "", new Set(), null)).toBe(lines);
  });
});

describe("a list of runs", () => {
  it("maps statuses to views and ignores unknown statuses", () => {
    const params = new URLSearchParams("status=running&status=nonsense&status=cancelling");
    expect(statusesOf(params)).toEqual(["running", "cancelling"]);
    expect(viewOf(statusesOf(params))).toBe("running");
    expect(viewOf([])).toBe("all");
    expect(viewOf(["dead"])).toBeNull();
  });
  it("shows the reason of a run", () => {
    const base = { error_message: null, reason: null, progress_message: null, status: "skipped" };
    expect(reasonOf({ ...base, reason: { code: "overlap_running" } })).toBe("overlap running");
    expect(reasonOf({ ...base, status: "dead", error_message: "ValueError: no" })).toBe("ValueError: no");
    expect(reasonOf({ ...base, status: "cancelled", reason: { code: "cancelled" } })).toBe("");
  });
  it("offers only possible actions", () => {
    expect(allowedActions("queued")).toEqual({ cancel: true, force: false, retry: false, replay: false });
    expect(allowedActions("cancelling")).toEqual({ cancel: false, force: true, retry: false, replay: false });
    expect(allowedActions("dead")).toEqual({ cancel: false, force: false, retry: true, replay: true });
    expect(allowedActions("succeeded")).toEqual({ cancel: false, force: false, retry: false, replay: true });
  });
});

describe("an error", () => {
  it("is shown only once", () => {
    expect(withoutError("It failed at 10:00 in attempt 1 because of KeyError: 'because of it'.")).toBe("It failed at 10:00 in attempt 1.");
    expect(otherReason({ type: "KeyError", message: "x", frame: "shop.mail:send" })).toBeNull();
    expect(otherReason({ type: "KeyError", message: "x", ended: "dead" })).toEqual({ ended: "dead" });
    expect(otherReason({ code: "overlap" })).toEqual({ code: "overlap" });
  });
  it("has its traceback among the errors in the log", () => {
    expect(levelOf("error", "  File x")).toBe("error");
  });
});
