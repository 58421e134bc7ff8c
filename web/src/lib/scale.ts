// Computes the axes of a chart. Pure.
import { formatTime } from "./time.ts";

/** Round numbers from 0 to at least `max`, about `wanted` of them. */
export function axisTicks(max: number, wanted = 4): number[] {
  if (!(max > 0)) return [0, 1];
  const rough = max / wanted;
  const size = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * size).find((candidate) => candidate >= rough - 1e-12) ?? size * 10;
  const found = [];
  for (let value = 0; value < max + step * 0.999; value += step) found.push(Number(value.toPrecision(12)));
  return found;
}

const STEPS_S = [
  1, 5, 10, 15, 30, 60, 300, 600, 900, 1_800, 3_600, 7_200, 10_800, 21_600, 43_200, 86_400, 172_800, 604_800, 1_209_600,
];

/** Round times between two others, in milliseconds, at most `wanted` of them. */
export function axisTimes(from: number, to: number, wanted: number, zone: string): number[] {
  const span = (to - from) / 1000;
  const step = (STEPS_S.find((size) => span / size <= wanted) ?? 2_592_000) * 1000;
  // Counted from midnight in the viewer's time zone, so that days start at midnight.
  const midnight = Date.parse(`${formatTime(from, zone).slice(0, 10)}T00:00:00Z`);
  const local = Date.parse(`${formatTime(from, zone).replace(" ", "T")}Z`);
  const start = Math.floor(from / 1000) * 1000 - (local - midnight);
  const found = [];
  for (let at = start + Math.ceil((from - start) / step) * step; at <= to; at += step) found.push(at);
  return found;
}

/** The caption of a time on the axis of a chart that spans `span` milliseconds. */
export function axisCaption(at: number, span: number, zone: string): string {
  const text = formatTime(at, zone);
  if (span <= 600_000) return text.slice(11, 19);
  if (span <= 2 * 86_400_000) return text.slice(11, 16);
  return text.slice(5, 10);
}

/** Stacks layers of values: for each layer, where its bars start and end. */
export function stackLayers(layers: readonly (readonly (number | null)[])[]): [number, number][][] {
  const base: number[] = [];
  return layers.map((layer) =>
    layer.map((value, index) => {
      const start = base[index] ?? 0;
      const end = start + (value ?? 0);
      base[index] = end;
      return [start, end];
    }),
  );
}
