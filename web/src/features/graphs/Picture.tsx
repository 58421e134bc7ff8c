// A graph, drawn: a step is a box that leads to its run, the way that took longest is thick. It is moved
// by scrolling, made larger and smaller by buttons; a table beside it says the same in words.
import { useMemo, useState } from "react";
import { Link } from "wouter";
import type { StepView } from "../../api/schema.gen.ts";
import { look } from "../../lib/states.ts";
import { IconButton } from "../../ui/Button.tsx";
import { Icon } from "../../ui/Icon.tsx";
import { useNow } from "../../ui/Time.tsx";
import { HEIGHT, WIDTH, drawn, hrefOf, noteOf, shareOf, stateOf } from "./model.ts";

const SIZES = [0.3, 0.5, 0.75, 1, 1.25] as const;
const USUAL = 3;

export function Picture({ steps, graphRun }: { steps: readonly StepView[]; graphRun: string | null }) {
  const now = useNow();
  const [size, setSize] = useState(steps.length > 60 ? 1 : USUAL);
  // Only names and edges decide where things stand; states change every second.
  const shape = steps.map((step) => `${step.name}<${step.needs.join()}${step.is_critical ? "!" : ""}`).join(" ");
  // eslint-disable-next-line react-hooks/exhaustive-deps
  const drawing = useMemo(() => drawn(steps), [shape]);
  const current = new Map(steps.map((step) => [step.name, step]));
  const scale = SIZES[size] ?? 1;
  return (
    <div className="graph">
      <div className="graph-sizes">
        <IconButton sign="dash" name="Smaller" disabled={size === 0} onClick={() => setSize(size - 1)} />
        <IconButton sign="plus" name="Larger" disabled={size === SIZES.length - 1} onClick={() => setSize(size + 1)} />
      </div>
      <div className="graph-box" tabIndex={0} role="group" aria-label="The graph, drawn">
        <div className="graph-canvas" style={{ width: drawing.width * scale, height: drawing.height * scale }}>
          <div className="graph-scaled" style={{ width: drawing.width, height: drawing.height, transform: `scale(${scale})` }}>
            <svg className="graph-edges" width={drawing.width} height={drawing.height} aria-hidden="true">
              {drawing.edges.map((edge) => (
                <path key={`${edge.from}>${edge.to}`} d={edge.path} className={edge.isCritical ? "graph-critical" : ""} />
              ))}
            </svg>
            {drawing.steps.map(({ step, x, y }) => (
              <Box key={step.name} step={current.get(step.name) ?? step} x={x} y={y} graphRun={graphRun} now={now} />
            ))}
          </div>
        </div>
      </div>
    </div>
  );
}

function Box({ step, x, y, graphRun, now }: { step: StepView; x: number; y: number; graphRun: string | null; now: number }) {
  const state = stateOf(step);
  const { tone, sign, word } = look(state);
  const href = hrefOf(step, graphRun);
  const note = noteOf(step, now);
  const share = shareOf(step);
  const classes = `graph-step tone-${tone} ${step.is_critical ? "graph-step-critical" : ""} ${step.status === "waiting" ? "graph-step-open" : ""}`;
  const place = { left: x, top: y, width: WIDTH, height: HEIGHT };
  const inside = (
    <>
      <span className="graph-name">
        <Icon sign={sign} />
        <span className="cut">{step.name}</span>
        {step.is_graph && <Icon sign="graph" />}
      </span>
      <span className="graph-note cut">
        {graphRun === null ? note : `${word}, ${note}`}
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
    <Link href={href} className={classes} style={place} title={title}>
      {inside}
    </Link>
  );
}
