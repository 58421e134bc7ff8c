// A graph, drawn: a step is a box that leads to its run, the way that took longest is thick. It is moved
// by scrolling, dragging or the small picture in its corner, made larger and smaller by buttons, + and −,
// or the wheel with Ctrl; a table beside it says the same in words.
import { type CSSProperties, type KeyboardEvent, memo, useLayoutEffect, useMemo, useRef, useState } from "react";
import { Link } from "wouter";
import type { StepView } from "../../api/schema.gen.ts";
import { look } from "../../lib/states.ts";
import { Button, IconButton } from "../../ui/Button.tsx";
import { Icon } from "../../ui/Icon.tsx";
import { useNow } from "../../ui/Time.tsx";
import { Overview } from "./Overview.tsx";
import { HEIGHT, LEGIBLE, MANY, SIZES, WIDTH, drawn, fitting, hrefOf, inSight, noteOf, resized, shareOf, stateOf, tiles } from "./model.ts";
import { useDragged, useSight, useWheel } from "./sight.ts";

/** A graph of more steps than this begins smaller: more of it is in sight, and names can still be read. */
const SOME = 60;

export function Picture({ steps, graphRun }: { steps: readonly StepView[]; graphRun: string | null }) {
  const box = useRef<HTMLDivElement>(null);
  const [size, setSize] = useState(steps.length > SOME ? 0.75 : 1);
  // Only names and edges decide where things stand; states change every second.
  const shape = steps.map((step) => `${step.name}<${step.needs.join()}${step.is_critical ? "!" : ""}`).join(" ");
  // eslint-disable-next-line react-hooks/exhaustive-deps
  const drawing = useMemo(() => drawn(steps), [shape]);
  const current = useMemo(() => new Map(steps.map((step) => [step.name, step])), [steps]);
  const sight = useSight(box, size);
  const toneOf = (name: string) => tone(current.get(name));
  const change = useSizing(box, size, setSize);
  const fit = () => {
    const element = box.current;
    // It is as high as what is in it, up to this.
    if (element) change(fitting(drawing, element.clientWidth, parseFloat(getComputedStyle(element).maxHeight)));
  };
  useDragged(box);
  useWheel(box, (by) => change(resized(size, by)));
  const keys = (event: KeyboardEvent) => {
    const by = ({ "+": 1, "=": 1, "-": -1 } as const)[event.key];
    if (event.ctrlKey || event.metaKey || (by === undefined && event.key !== "0")) return;
    event.preventDefault();
    if (by === undefined) fit();
    else change(resized(size, by));
  };
  return (
    <div className="graph">
      <div className="graph-sizes">
        <IconButton sign="dash" name="Smaller" disabled={size <= SIZES[0]} onClick={() => change(resized(size, -1))} />
        <IconButton sign="plus" name="Larger" disabled={size >= (SIZES.at(-1) ?? 1)} onClick={() => change(resized(size, 1))} />
        <Button small onClick={fit}>
          Fit
        </Button>
      </div>
      <div className="graph-box" ref={box} tabIndex={0} role="group" aria-label="The graph, drawn" onKeyDown={keys}>
        <div className="graph-canvas" style={{ width: drawing.width * size, height: drawing.height * size }}>
          <div className="graph-scaled" style={{ width: drawing.width, height: drawing.height, transform: `scale(${size})` }}>
            <svg className="graph-edges" width={drawing.width} height={drawing.height} aria-hidden="true">
              <path d={drawing.edges} />
              <path d={drawing.critical} className="graph-critical" />
              {size < LEGIBLE && steps.length > MANY && <Tiles shapes={tiles(drawing.steps, toneOf)} />}
            </svg>
            {(size >= LEGIBLE || steps.length <= MANY) &&
              inSight(drawing.steps, sight).map(({ step, x, y }) => <Box key={step.name} step={current.get(step.name) ?? step} x={x} y={y} graphRun={graphRun} />)}
          </div>
        </div>
      </div>
      {steps.length > SOME && sight && <Overview drawing={drawing} toneOf={toneOf} sight={sight} box={box} size={size} />}
    </div>
  );
}

function tone(step: StepView | undefined): string {
  return step ? look(stateOf(step)).tone : "idle";
}

/** Changes the size, and keeps in the middle what is there. */
function useSizing(box: { current: HTMLElement | null }, size: number, setSize: (size: number) => void): (next: number) => void {
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

interface BoxGiven {
  step: StepView;
  x: number;
  y: number;
  graphRun: string | null;
}

/** Made again only if its step changed: what has not changed is the same object, answer for answer. */
const Box = memo(function Box({ step, x, y, graphRun }: BoxGiven) {
  const { tone, sign, word } = look(stateOf(step));
  const href = hrefOf(step, graphRun);
  const share = shareOf(step);
  const classes = `graph-step tone-${tone} ${step.is_critical ? "graph-step-critical" : ""} ${step.status === "waiting" ? "graph-step-open" : ""}`;
  const place: CSSProperties = { left: x, top: y, width: WIDTH, height: HEIGHT };
  const inside = (
    <>
      <span className="graph-name">
        <Icon sign={sign} />
        <span className="cut">{step.name}</span>
        {step.is_graph && <Icon sign="graph" />}
      </span>
      <span className="graph-note cut">
        {graphRun !== null && `${word}, `}
        {step.start_time !== null && step.end_time === null && !step.map ? <Going step={step} /> : noteOf(step, 0)}
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

/** How long it has taken so far: the only part that a second changes. */
function Going({ step }: { step: StepView }) {
  return noteOf(step, useNow());
}
