// Graphs as pictures: where each step stands, how the edges go, what is told about a step. Pure.
import dagre from "@dagrejs/dagre";
import type { RunGraphView, StepView } from "../../api/schema.gen.ts";
import { count } from "../../lib/figures.ts";
import { between, length } from "../../lib/time.ts";

export const WIDTH = 196;
export const HEIGHT = 58;

export interface Placed {
  step: StepView;
  x: number;
  y: number;
}

export interface Edge {
  from: string;
  to: string;
  /** Corners from the parent's right side to the child's left. */
  path: string;
  isCritical: boolean;
}

export interface Drawing {
  width: number;
  height: number;
  steps: readonly Placed[];
  edges: readonly Edge[];
}

/** Lays steps out from left to right, parents before children. */
export function drawn(steps: readonly StepView[]): Drawing {
  const graph = new dagre.graphlib.Graph();
  graph.setGraph({ rankdir: "LR", nodesep: 18, ranksep: 52, marginx: 16, marginy: 16 });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const step of steps) graph.setNode(step.name, { width: WIDTH, height: HEIGHT });
  for (const step of steps) for (const parent of step.needs) graph.setEdge(parent, step.name);
  dagre.layout(graph);
  const critical = new Set(steps.filter((step) => step.is_critical).map((step) => step.name));
  const placed = steps.map((step) => {
    const { x, y } = graph.node(step.name) as { x: number; y: number };
    return { step, x: x - WIDTH / 2, y: y - HEIGHT / 2 };
  });
  const edges = graph.edges().map(({ v, w }) => {
    const { points } = graph.edge({ v, w }) as { points: { x: number; y: number }[] };
    return { from: v, to: w, path: curve(points), isCritical: critical.has(v) && critical.has(w) };
  });
  const { width = 0, height = 0 } = graph.graph() as { width?: number; height?: number };
  return { width: Math.max(width, WIDTH), height: Math.max(height, HEIGHT), steps: placed, edges };
}

/** A line through points that bends softly. */
export function curve(points: readonly { x: number; y: number }[]): string {
  const [first, ...rest] = points;
  if (!first) return "";
  const parts = [`M${round(first.x)},${round(first.y)}`];
  let last = first;
  for (const point of rest) {
    const middle = (last.x + point.x) / 2;
    parts.push(`C${round(middle)},${round(last.y)} ${round(middle)},${round(point.y)} ${round(point.x)},${round(point.y)}`);
    last = point;
  }
  return parts.join(" ");
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

/** The state of a step in the words of runs: what is live shows what its run does. */
export function stateOf(step: StepView): string {
  if (step.status === "live") return step.map ? "running" : step.run_status === "blocked" ? "running" : (step.run_status ?? "queued");
  if (step.status === "failed") return step.run_status ?? "failed";
  return step.status === "waiting" ? "pending" : step.status;
}

/** Where a click on a step leads; null if it has no run yet. */
export function hrefOf(step: StepView, graphRun: string | null): string | null {
  if (step.map && graphRun) return `/runs?graph_run_id=${graphRun}`;
  if (step.run_id === null) return null;
  return step.is_graph ? `/graphs/${step.run_id}` : `/runs/${step.run_id}`;
}

/** The second line of a step. */
export function noteOf(step: StepView, now: number): string {
  if (step.map) return step.map.progress;
  if (step.start_time !== null) return length(between(step.start_time, step.end_time, now) ?? 0);
  if (step.status === "skipped" && step.reason) return step.reason.replaceAll("_", " ");
  return step.is_graph ? "graph" : step.kind;
}

/** How far a map is, from 0 to 1; null if nobody knows how many there will be. */
export function shareOf(step: StepView): number | null {
  const map = step.map;
  if (!map || map.total === null) return null;
  return map.total === 0 ? 1 : (map.succeeded + map.failed + map.cancelled) / map.total;
}

/** As in "12 of 20 steps are done, 1 failed". */
export function summary(run: Pick<RunGraphView, "steps" | "counts">): string {
  const total = run.steps.length;
  const open = (run.counts["waiting"] ?? 0) + (run.counts["live"] ?? 0);
  const failed = run.counts["failed"] ?? 0;
  const done = `${total - open} of ${count(total, "step")} decided`;
  return failed > 0 ? `${done}, ${failed} failed` : done;
}

interface Defined {
  name?: unknown;
  kind?: unknown;
  needs?: unknown;
  graph?: unknown;
}

/** The steps of a definition, before anything has run. */
export function stepsOf(graph: Record<string, unknown>): StepView[] {
  const steps = Array.isArray(graph["steps"]) ? (graph["steps"] as Defined[]) : [];
  return steps.map((step, index) => ({
    name: String(step.name),
    index,
    kind: typeof step.kind === "string" ? step.kind : "graph",
    needs: Array.isArray(step.needs) ? step.needs.map(String) : [],
    status: "waiting",
    is_graph: step.graph !== undefined && step.graph !== null,
    is_critical: false,
    run_id: null,
    run_status: null,
    attempt_number: null,
    start_time: null,
    end_time: null,
    reason: null,
    map: null,
  }));
}
