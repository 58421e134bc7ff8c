// Charts as SVG: stacked bars, lines and dots over time. A chart has a thousand points at most, so the
// page needs no library, and colours, zoom and screen readers work without extra code.
//
// Arrow keys move the cursor; the text below the chart describes the point under it.
import { type KeyboardEvent, type PointerEvent, useLayoutEffect, useMemo, useRef, useState } from "react";
import { axisCaption, axisTimes, stackLayers, axisTicks } from "../lib/scale.ts";
import type { Tone } from "../lib/states.ts";
import { ZONE } from "./Time.tsx";

export interface Layer {
  kind: "bars" | "line" | "dots";
  label: string;
  tone: Tone;
  values: readonly (number | null)[];
  /** The tone of each dot, if they differ. */
  tones?: readonly Tone[];
}

interface ChartProps {
  /** See Figure in Card.tsx. */
  figure: string;
  /** What the chart shows, for screen readers. */
  name: string;
  /** Milliseconds since 1970, ascending. */
  at: readonly number[];
  layers: readonly Layer[];
  format: (value: number) => string;
  /** Describes the point at an index. */
  describe: (index: number) => string;
  onPick?: (index: number) => void;
  height?: number;
}

const LEFT = 46;
const RIGHT = 8;
const TOP = 8;
const BOTTOM = 20;

export function Chart({ figure, name, at, layers, format, describe, onPick, height = 180 }: ChartProps) {
  const box = useRef<HTMLDivElement>(null);
  const width = useWidth(box);
  const [cursor, setCursor] = useState<number | null>(null);
  const plot = useMemo(() => buildPlot(at, layers, width, height), [at, layers, width, height]);
  const move = (event: PointerEvent<SVGSVGElement>) => {
    const x = event.clientX - event.currentTarget.getBoundingClientRect().left;
    setCursor(nearestIndex(at, plot, x));
  };
  const step = (event: KeyboardEvent) => {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (by !== undefined && at.length > 0) {
      event.preventDefault();
      setCursor((now) => Math.max(0, Math.min(at.length - 1, (now ?? (by > 0 ? -1 : at.length)) + by)));
    }
    if (event.key === "Enter" && cursor !== null) onPick?.(cursor);
  };
  return (
    <div className="chart" ref={box}>
      <svg
        width={width}
        height={height}
        role="img"
        aria-label={name}
        data-figure={figure}
        tabIndex={0}
        className={onPick ? "chart-pick" : ""}
        onPointerMove={move}
        onPointerLeave={() => setCursor(null)}
        onKeyDown={step}
        onBlur={() => setCursor(null)}
        onClick={() => {
          if (cursor !== null) onPick?.(cursor);
        }}
      >
        <Grid plot={plot} width={width} height={height} format={format} />
        {layers.map((layer, index) => (
          <LayerShape key={layer.label} layer={layer} index={index} at={at} plot={plot} />
        ))}
        {cursor !== null && at[cursor] !== undefined && (
          <line className="chart-cursor" x1={plot.x(at[cursor])} x2={plot.x(at[cursor])} y1={TOP} y2={height - BOTTOM} />
        )}
      </svg>
      <div className="row row-apart">
        <div className="chart-legend">
          {layers.map((layer) => (
            <span key={layer.label} className={`tone-${layer.tone}`}>
              <i className={layer.kind === "line" ? "chart-legend-line" : ""} />
              {layer.label}
            </span>
          ))}
        </div>
        <div className="chart-readout" role="status">
          {cursor !== null && at[cursor] !== undefined ? describe(cursor) : ""}
        </div>
      </div>
    </div>
  );
}

interface Plot {
  from: number;
  to: number;
  x: (at: number) => number;
  y: (value: number) => number;
  lines: number[];
  bar: number;
  stacks: [number, number][][];
}

function buildPlot(at: readonly number[], layers: readonly Layer[], width: number, height: number): Plot {
  const bars = layers.filter((layer) => layer.kind === "bars");
  const stacks = stackLayers(layers.map((layer) => (layer.kind === "bars" ? layer.values : [])));
  const tops = [
    ...(bars.length > 0 ? (stacks[layers.lastIndexOf(bars.at(-1) as Layer)] ?? []).map(([, end]) => end) : []),
    ...layers.filter((layer) => layer.kind !== "bars").flatMap((layer) => layer.values.filter((value) => value !== null)),
  ];
  const lines = axisTicks(Math.max(0, ...tops));
  const max = lines.at(-1) ?? 1;
  const gap = at.length > 1 ? ((at.at(-1) ?? 0) - (at[0] ?? 0)) / (at.length - 1) : 1;
  // A bar is centred on its time, so both ends leave room for half a bar.
  const margin = bars.length > 0 ? gap / 2 : 0;
  const from = (at[0] ?? 0) - margin;
  const to = Math.max((at.at(-1) ?? 1) + margin, from + 1);
  const inner = Math.max(1, width - LEFT - RIGHT);
  return {
    from,
    to,
    x: (moment) => LEFT + ((moment - from) / (to - from)) * inner,
    y: (value) => height - BOTTOM - (value / max) * (height - TOP - BOTTOM),
    lines,
    bar: Math.max(1, (inner / Math.max(1, at.length)) * 0.72),
    stacks,
  };
}

function Grid({ plot, width, height, format }: { plot: Plot; width: number; height: number; format: (value: number) => string }) {
  const span = plot.to - plot.from;
  return (
    <g aria-hidden="true">
      {plot.lines.map((value) => (
        <g key={value}>
          <line className="chart-grid" x1={LEFT} x2={width - RIGHT} y1={plot.y(value)} y2={plot.y(value)} />
          <text className="chart-text" x={LEFT - 6} y={plot.y(value) + 4} textAnchor="end">
            {format(value)}
          </text>
        </g>
      ))}
      {axisTimes(plot.from, plot.to, Math.max(2, Math.floor(width / 90)), ZONE)
        .filter((moment) => plot.x(moment) > LEFT && plot.x(moment) < width - 24)
        .map((moment) => (
        <text key={moment} className="chart-text" x={plot.x(moment)} y={height - 5} textAnchor="middle">
          {axisCaption(moment, span, ZONE)}
        </text>
      ))}
    </g>
  );
}

function LayerShape({ layer, index, at, plot }: { layer: Layer; index: number; at: readonly number[]; plot: Plot }) {
  if (layer.kind === "bars") {
    return (
      <g className={`chart-bars tone-${layer.tone}`}>
        {at.map((moment, place) => {
          const [start, end] = plot.stacks[index]?.[place] ?? [0, 0];
          if (end <= start) return null;
          const top = plot.y(end);
          return <rect key={moment} x={plot.x(moment) - plot.bar / 2} width={plot.bar} y={top} height={Math.max(1, plot.y(start) - top)} rx={1} />;
        })}
      </g>
    );
  }
  if (layer.kind === "line") return <path className={`chart-line tone-${layer.tone}`} d={linePath(layer.values, at, plot)} />;
  return (
    <g className={`chart-dots tone-${layer.tone}`}>
      {at.map((moment, place) => {
        const value = layer.values[place];
        if (value === null || value === undefined) return null;
        return <circle key={place} className={`tone-${layer.tones?.[place] ?? layer.tone}`} cx={plot.x(moment)} cy={plot.y(value)} r={3} />;
      })}
    </g>
  );
}

/** A line that is interrupted where values are missing. */
function linePath(values: readonly (number | null)[], at: readonly number[], plot: Plot): string {
  let text = "";
  let isDown = false;
  values.forEach((value, index) => {
    const moment = at[index];
    if (value === null || moment === undefined) {
      isDown = false;
      return;
    }
    const point = `${plot.x(moment).toFixed(1)} ${plot.y(value).toFixed(1)}`;
    // A single value between two gaps is drawn as a short stroke.
    text += isDown ? `L${point}` : `M${point}h0.01`;
    isDown = true;
  });
  return text;
}

function nearestIndex(at: readonly number[], plot: Plot, x: number): number | null {
  let best: number | null = null;
  let shortest = Infinity;
  at.forEach((moment, index) => {
    const distance = Math.abs(plot.x(moment) - x);
    if (distance < shortest) [best, shortest] = [index, distance];
  });
  return best;
}

function useWidth(box: { current: HTMLElement | null }): number {
  const [width, setWidth] = useState(600);
  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return;
    setWidth(element.clientWidth || 600);
    const observer = new ResizeObserver(() => setWidth(element.clientWidth || 600));
    observer.observe(element);
    return () => observer.disconnect();
  }, [box]);
  return width;
}
