// Computes the diagram of a graph: positions of steps, edges, and the texts of a step. Pure.
import type { RunGraphView, StepView } from "../../api/schema.gen.ts";
import { formatCount } from "../../lib/figures.ts";
import { secondsBetween, formatDuration } from "../../lib/time.ts";
import { type Layout, layOutSteps } from "./layout.ts";

export const WIDTH = 196;
export const HEIGHT = 58;

export interface PlacedStep {
  step: StepView;
  x: number;
  y: number;
}

export interface Drawing {
  width: number;
  height: number;
  steps: readonly PlacedStep[];
  /** All edges as one path, and those of the critical path as another. */
  edges: string;
  critical: string;
}

const MEASURES = { width: WIDTH, height: HEIGHT, across: 52, between: 18, margin: 16 };

/** Lays steps out from left to right, parents before children. */
export function drawGraph(steps: readonly StepView[]): Drawing {
  const layout = layOutSteps(steps, MEASURES);
  const critical = new Set(steps.filter((step) => step.is_critical).map((step) => step.name));
  const isCritical = ({ from, to }: { from: string; to: string }) => critical.has(from) && critical.has(to);
  const line = (edges: Layout["edges"]) => edges.map(({ points }) => curve(points)).join("");
  return {
    width: layout.width,
    height: layout.height,
    steps: steps.map((step) => ({ step, x: 0, y: 0, ...layout.at.get(step.name) })),
    edges: line(layout.edges.filter((edge) => !isCritical(edge))),
    critical: line(layout.edges.filter(isCritical)),
  };
}

/** The visible part of a drawing, in the drawing's coordinates. */
export interface Viewport {
  left: number;
  top: number;
  right: number;
  bottom: number;
}

/** With more steps than this, only visible steps are rendered. */
export const VIRTUAL_MIN_STEPS = 150;

/** The visible steps; none of many while the visible part is unknown. */
export function visibleSteps(steps: readonly PlacedStep[], sight: Viewport | null): readonly PlacedStep[] {
  if (steps.length <= VIRTUAL_MIN_STEPS) return steps;
  if (sight === null) return [];
  return steps.filter(({ x, y }) => x + WIDTH >= sight.left && x <= sight.right && y + HEIGHT >= sight.top && y <= sight.bottom);
}

/** The steps of each tone as one shape, for a zoom that is too small for names. */
export function tiles(placed: readonly PlacedStep[], toneOf: (name: string) => string): [tone: string, shape: string][] {
  const shapes = new Map<string, string>();
  for (const { step, x, y } of placed) {
    const tone = toneOf(step.name);
    shapes.set(tone, `${shapes.get(tone) ?? ""}M${round(x)},${round(y)}h${WIDTH}v${HEIGHT}h${-WIDTH}z`);
  }
  return [...shapes];
}

export const ZOOM_LEVELS = [0.08, 0.12, 0.2, 0.3, 0.5, 0.75, 1, 1.25] as const;
/** Below this zoom names are not legible, and boxes are drawn without them. */
export const LEGIBLE_ZOOM = 0.3;

/** The zoom at which the whole drawing is visible, but at least the smallest zoom. */
export function fitZoom(drawing: { width: number; height: number }, width: number, height: number): number {
  return Math.max(ZOOM_LEVELS[0], Math.min(1, width / drawing.width, height / drawing.height));
}

/** The next zoom level in a direction. */
export function nextZoom(size: number, by: 1 | -1): number {
  const next = by > 0 ? ZOOM_LEVELS.find((other) => other > size) : ZOOM_LEVELS.findLast((other) => other < size);
  return next ?? size;
}

/** A smooth curve through points. */
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

/** The status of a step in terms of runs: a live step has the status of its run. */
export function stateOf(step: StepView): string {
  if (step.status === "live") return step.map ? "running" : step.run_status === "blocked" ? "running" : (step.run_status ?? "queued");
  if (step.status === "failed") return step.run_status ?? "failed";
  return step.status === "waiting" ? "pending" : step.status;
}

/** The target of a click on a step; null if it has no run yet. */
export function hrefOf(step: StepView, graphRun: string | null): string | null {
  if (step.map && graphRun) return `/runs?graph_run_id=${graphRun}`;
  if (step.run_id === null) return null;
  return step.is_graph ? `/graphs/${step.run_id}` : `/runs/${step.run_id}`;
}

/** The second line of a step. */
export function noteOf(step: StepView, now: number): string {
  if (step.map) return step.map.progress;
  if (step.start_time !== null) return formatDuration(secondsBetween(step.start_time, step.end_time, now) ?? 0);
  if (step.status === "skipped" && step.reason) return step.reason.replaceAll("_", " ");
  return step.is_graph ? "graph" : step.kind;
}

/** The progress of a map, from 0 to 1; null if the total is unknown. */
export function shareOf(step: StepView): number | null {
  const map = step.map;
  if (!map || map.total === null) return null;
  return map.total === 0 ? 1 : (map.succeeded + map.failed + map.cancelled) / map.total;
}

/** As in "12 of 20 steps done, 1 failed". */
export function summarizeSteps(run: Pick<RunGraphView, "steps" | "counts">): string {
  const total = run.steps.length;
  const open = (run.counts["waiting"] ?? 0) + (run.counts["live"] ?? 0);
  const failed = run.counts["failed"] ?? 0;
  const done = `${total - open} of ${formatCount(total, "step")} done`;
  return failed > 0 ? `${done}, ${failed} failed` : done;
}

interface StepDefinition {
  name?: unknown;
  kind?: unknown;
  needs?: unknown;
  graph?: unknown;
}

/** The steps of a graph definition. */
export function stepsOf(graph: Record<string, unknown>): StepView[] {
  const steps = Array.isArray(graph["steps"]) ? (graph["steps"] as StepDefinition[]) : [];
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
