import { describe, expect, it } from "vitest";
import type { StepView } from "../../api/schema.gen.ts";
import { curve, drawGraph, hrefOf, noteOf, shareOf, stateOf, stepsOf, summarizeSteps } from "./model.ts";

const step = (name: string, needs: string[], more: Partial<StepView> = {}): StepView => ({
  ...stepsOf({ steps: [{ name, kind: "k", needs }] })[0]!,
  ...more,
});

describe("a diagram", () => {
  it("puts parents to the left of their children, and no two steps in the same place", () => {
    const drawing = drawGraph([step("a", []), step("b", ["a"]), step("c", ["a"]), step("d", ["b", "c"])]);
    const at = new Map(drawing.steps.map((each) => [each.step.name, each]));
    expect(at.get("a")!.x).toBeLessThan(at.get("b")!.x);
    expect(at.get("b")!.x).toBeLessThan(at.get("d")!.x);
    expect(new Set(drawing.steps.map(({ x, y }) => `${x} ${y}`)).size).toBe(4);
    expect(drawing.edges.match(/M/g)).toHaveLength(4);
  });
  it("marks an edge as critical if both of its ends are", () => {
    const drawing = drawGraph([step("a", [], { is_critical: true }), step("b", ["a"], { is_critical: true }), step("c", ["a"])]);
    expect([drawing.edges, drawing.critical].map((line) => line.match(/M/g)?.length)).toEqual([1, 1]);
  });
  it("works for a single step and for an empty graph", () => {
    expect(drawGraph([step("a", [])]).width).toBeGreaterThan(0);
    expect(drawGraph([]).steps).toEqual([]);
    expect(curve([])).toBe("");
  });
});

describe("a step", () => {
  const map = { total: 10, made: 10, alive: 5, succeeded: 4, failed: 1, cancelled: 0, progress: "5 of 10" };
  it("shows the status of its run while it is live", () => {
    expect(stateOf(step("a", [], { status: "live", run_status: "retrying" }))).toBe("retrying");
    expect(stateOf(step("a", [], { status: "live", run_status: "blocked", is_graph: true }))).toBe("running");
    expect(stateOf(step("a", []))).toBe("pending");
    expect(stateOf(step("a", [], { status: "failed", run_status: "dead" }))).toBe("dead");
  });
  it("counts members instead of drawing them", () => {
    const many = step("a", [], { status: "live", map });
    expect(noteOf(many, 0)).toBe("5 of 10");
    expect(shareOf(many)).toBe(0.5);
    expect(shareOf(step("a", [], { map: { ...map, total: null } }))).toBeNull();
    expect(hrefOf(many, "run_1")).toBe("/runs?graph_run_id=run_1");
  });
  it("links to its run, or to its graph run", () => {
    expect(hrefOf(step("a", [], { run_id: "run_2" }), "run_1")).toBe("/runs/run_2");
    expect(hrefOf(step("a", [], { run_id: "run_2", is_graph: true }), "run_1")).toBe("/graphs/run_2");
    expect(hrefOf(step("a", []), "run_1")).toBeNull();
  });
});

it("summarises a graph run in words", () => {
  const steps = [step("a", []), step("b", ["a"]), step("c", ["a"])];
  expect(summarizeSteps({ steps, counts: { succeeded: 1, failed: 1, waiting: 1 } })).toBe("2 of 3 steps done, 1 failed");
});
