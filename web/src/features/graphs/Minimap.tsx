// The minimap of a large graph, with a frame around the visible part. A click or a drag moves the frame.
// For the mouse only; keys and screen readers use the diagram and the table.
import { type PointerEvent, type RefObject } from "react";
import { type Drawing, type Viewport, tiles } from "./model.ts";

const WIDEST = 168;
const HIGHEST = 112;

interface MinimapProps {
  drawing: Drawing;
  toneOf: (name: string) => string;
  sight: Viewport;
  box: RefObject<HTMLDivElement | null>;
  size: number;
}

export function Minimap({ drawing, toneOf, sight, box, size }: MinimapProps) {
  const scale = Math.min(WIDEST / drawing.width, HIGHEST / drawing.height);
  const isWhole = sight.left <= 0 && sight.top <= 0 && sight.right >= drawing.width && sight.bottom >= drawing.height;
  if (isWhole) return null;
  const move = (event: PointerEvent<SVGSVGElement>) => {
    const element = box.current;
    if (event.buttons !== 1 || !element) return;
    const frame = event.currentTarget.getBoundingClientRect();
    const at = { x: ((event.clientX - frame.left) / scale) * size, y: ((event.clientY - frame.top) / scale) * size };
    element.scrollTo(at.x - element.clientWidth / 2, at.y - element.clientHeight / 2);
  };
  return (
    <svg className="graph-overview" width={drawing.width * scale} height={drawing.height * scale} viewBox={`0 0 ${drawing.width} ${drawing.height}`} aria-hidden="true" onPointerDown={move} onPointerMove={move}>
      {tiles(drawing.steps, toneOf).map(([tone, shape]) => (
        <path key={tone} d={shape} className={`graph-tile tone-${tone}`} />
      ))}
      <rect className="graph-frame" x={sight.left} y={sight.top} width={sight.right - sight.left} height={sight.bottom - sight.top} vectorEffect="non-scaling-stroke" />
    </svg>
  );
}
