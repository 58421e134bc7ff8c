// The diagram of a graph: each step is a box that links to its run, and the critical path is thick.
// Scrolling, dragging or the minimap moves it; buttons, + and −, or Ctrl with the wheel zoom it. A table
// below it has the same content as text.
import { type CSSProperties, type KeyboardEvent, memo, useLayoutEffect, useMemo, useRef, useState } from "react";
import { Link } from "wouter";
import type { StepView } from "../../api/schema.gen.ts";
import { statusLook } from "../../lib/states.ts";
import { Button, IconButton } from "../../ui/Button.tsx";
import { Icon } from "../../ui/Icon.tsx";
import { useNow } from "../../ui/Time.tsx";
import { Minimap } from "./Minimap.tsx";
import { HEIGHT, LEGIBLE_ZOOM, VIRTUAL_MIN_STEPS, ZOOM_LEVELS, WIDTH, drawGraph, fitZoom, hrefOf, visibleSteps, noteOf, nextZoom, shareOf, stateOf, tiles } from "./model.ts";
import { useDragScroll, useViewport, useWheelZoom } from "./viewport.ts";

/** A graph of more steps than this starts zoomed out, with names still legible. */
const LARGE_MIN_STEPS = 60;

export function GraphDiagram({ steps, graphRun }: { steps: readonly StepView[]; graphRun: string | null }) {
  const box = useRef<HTMLDivElement>(null);
  const [size, setSize] = useState(steps.length > LARGE_MIN_STEPS ? 0.75 : 1);
  // The layout depends only on names and edges; statuses change every second.
  const shape = steps.map((step) => `${step.name}<${step.needs.join()}${step.is_critical ? "!" : ""}`).join(" ");
  // eslint-disable-next-line react-hooks/exhaustive-deps
  const drawing = useMemo(() => drawGraph(steps), [shape]);
  const current = useMemo(() => new Map(steps.map((step) => [step.name, step])), [steps]);
  const sight = useViewport(box, size);
  const toneOf = (name: string) => tone(current.get(name));
  const change = useZoom(box, size, setSize);
  const fit = () => {
    const element = box.current;
    // The box is as high as its content, up to its maximum height.
    if (element) change(fitZoom(drawing, element.clientWidth, parseFloat(getComputedStyle(element).maxHeight)));
  };
  useDragScroll(box);
  useWheelZoom(box, (by) => change(nextZoom(size, by)));
  const keys = (event: KeyboardEvent) => {
    const by = ({ "+": 1, "=": 1, "-": -1 } as const)[event.key];
    if (event.ctrlKey || event.metaKey || (by === undefined && event.key !== "0")) return;
    event.preventDefault();
    if (by === undefined) fit();
    else change(nextZoom(size, by));
  };
  return (
    <div className="graph">
      <div className="graph-sizes">
        <IconButton icon="dash" name="Zoom out" disabled={size <= ZOOM_LEVELS[0]} onClick={() => change(nextZoom(size, -1))} />
        <IconButton icon="plus" name="Zoom in" disabled={size >= (ZOOM_LEVELS.at(-1) ?? 1)} onClick={() => change(nextZoom(size, 1))} />
        <Button small onClick={fit}>
          Fit
        </Button>
      </div>
      <div className="graph-box" ref={box} tabIndex={0} role="group" aria-label="Graph diagram" onKeyDown={keys}>
        <div className="graph-canvas" style={{ width: drawing.width * size, height: drawing.height * size }}>
          <div className="graph-scaled" style={{ width: drawing.width, height: drawing.height, transform: `scale(${size})` }}>
            <svg className="graph-edges" width={drawing.width} height={drawing.height} aria-hidden="true">
              <path d={drawing.edges} />
              <path d={drawing.critical} className="graph-critical" />
              {size < LEGIBLE_ZOOM && steps.length > VIRTUAL_MIN_STEPS && <Tiles shapes={tiles(drawing.steps, toneOf)} />}
            </svg>
            {(size >= LEGIBLE_ZOOM || steps.length <= VIRTUAL_MIN_STEPS) &&
              visibleSteps(drawing.steps, sight).map(({ step, x, y }) => <StepBox key={step.name} step={current.get(step.name) ?? step} x={x} y={y} graphRun={graphRun} />)}
          </div>
        </div>
      </div>
      {steps.length > LARGE_MIN_STEPS && sight && <Minimap drawing={drawing} toneOf={toneOf} sight={sight} box={box} size={size} />}
    </div>
  );
}

function tone(step: StepView | undefined): string {
  return step ? statusLook(stateOf(step)).tone : "idle";
}

/** Zooms around the middle of the visible part. */
function useZoom(box: { current: HTMLElement | null }, size: number, setSize: (size: number) => void): (next: number) => void {
  const middle = useRef<{ x: number; y: number } | null>(null);
  useLayoutEffect(() => {
    const element = box.current;
    if (!element || !middle.current) return;
    element.scrollTo(middle.current.x * size - element.clientWidth / 2, middle.current.y * size - element.clientHeight / 2);
    middle.current = null;
  }, [box, size]);
  return (next) => {
    const element = box.current;
    if (element) middle.current = { x: (element.scrollLeft + element.clientWidth / 2) / size, y: (element.scrollTop + element.clientHeight / 2) / size };
    setSize(next);
  };
}

function Tiles({ shapes }: { shapes: readonly [string, string][] }) {
  return shapes.map(([tone, shape]) => <path key={tone} d={shape} className={`graph-tile tone-${tone}`} />);
}

interface StepBoxProps {
  step: StepView;
  x: number;
  y: number;
  graphRun: string | null;
}

/** Rerenders only if its step changed: an unchanged step stays the same object between responses. */
const StepBox = memo(function Box({ step, x, y, graphRun }: StepBoxProps) {
  const { tone, icon, word } = statusLook(stateOf(step));
  const href = hrefOf(step, graphRun);
  const share = shareOf(step);
  const classes = `graph-step tone-${tone} ${step.is_critical ? "graph-step-critical" : ""} ${step.status === "waiting" ? "graph-step-open" : ""}`;
  const place: CSSProperties = { left: x, top: y, width: WIDTH, height: HEIGHT };
  const inside = (
    <>
      <span className="graph-name">
        <Icon icon={icon} />
        <span className="cut">{step.name}</span>
        {step.is_graph && <Icon icon="graph" />}
      </span>
      <span className="graph-note cut">
        {graphRun !== null && `${word}, `}
        {step.start_time !== null && step.end_time === null && !step.map ? <StepDuration step={step} /> : noteOf(step, 0)}
      </span>
      {share !== null && (
        <span className="graph-share">
          <span style={{ width: `${share * 100}%` }} />
        </span>
      )}
    </>
  );
  const title = [step.name, word, step.reason].filter(Boolean).join("\n");
  return href === null ? (
    <div className={classes} style={place} title={title}>
      {inside}
    </div>
  ) : (
    <Link href={href} className={classes} style={place} title={title} draggable={false}>
      {inside}
    </Link>
  );
});

/** The duration so far: the only part that changes every second. */
function StepDuration({ step }: { step: StepView }) {
  return noteOf(step, useNow());
}
