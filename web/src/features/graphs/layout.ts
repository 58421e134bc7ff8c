// Lays out the steps of a graph in columns from left to right, parents before children, with few
// crossings and short edges. Pure. A thousand steps take about ten milliseconds; docs/adr/0028 explains
// why this is not a library.

/** A step, or a waypoint of a long edge in a column between its ends. */
interface Place {
  name: string | null;
  column: number;
  /** The vertical centre. */
  y: number;
  before: Place[];
  after: Place[];
}

export interface NamedStep {
  name: string;
  needs: readonly string[];
}

export interface Measures {
  width: number;
  height: number;
  /** The gaps between columns and between two steps of one column. */
  across: number;
  between: number;
  margin: number;
}

export interface Point {
  x: number;
  y: number;
}

export interface Layout {
  width: number;
  height: number;
  /** The upper left corner of each step. */
  at: ReadonlyMap<string, Point>;
  edges: readonly { from: string; to: string; points: readonly Point[] }[];
}

/** Once this many waypoints exist, further edges are straight: more waypoints would cost too much. */
const WAYPOINTS_MAX = 4_000;
const SWEEPS = 8;

export function layOutSteps(steps: readonly NamedStep[], measures: Measures): Layout {
  const column = columnsOf(steps);
  const places = new Map(steps.map(({ name }) => [name, createPlace(name, column.get(name) ?? 0)]));
  const columns: Place[][] = [];
  for (const each of places.values()) (columns[each.column] ??= []).push(each);
  const ways = connectSteps(steps, places, columns);
  // Only a graph without steps has empty columns.
  const filled = columns.filter((each) => each !== undefined);
  for (let sweep = 0; sweep < SWEEPS; sweep += 1) sweepColumns(filled, sweep % 2 === 0, sortColumn);
  assignPositions(filled, measures);
  return measureLayout(filled, places, ways, measures);
}

function createPlace(name: string | null, column: number): Place {
  return { name, column, y: 0, before: [], after: [] };
}

/** The column of each step: one after the last of its parents. A step without parents is placed right
 * before its first child. */
function columnsOf(steps: readonly NamedStep[]): Map<string, number> {
  const known = new Set(steps.map(({ name }) => name));
  const children = new Map<string, string[]>();
  const open = new Map<string, number>();
  for (const step of steps) {
    const needs = step.needs.filter((each) => known.has(each));
    open.set(step.name, needs.length);
    for (const parent of needs) {
      const others = children.get(parent);
      if (others) others.push(step.name);
      else children.set(parent, [step.name]);
    }
  }
  const column = new Map<string, number>();
  const free = steps.filter(({ name }) => open.get(name) === 0).map(({ name }) => name);
  const roots = [...free];
  for (const name of free) {
    const own = column.get(name) ?? 0;
    column.set(name, own);
    for (const child of children.get(name) ?? []) {
      column.set(child, Math.max(column.get(child) ?? 0, own + 1));
      open.set(child, (open.get(child) ?? 1) - 1);
      if (open.get(child) === 0) free.push(child);
    }
  }
  for (const root of roots) {
    const first = Math.min(...(children.get(root) ?? []).map((child) => column.get(child) ?? 1));
    if (Number.isFinite(first)) column.set(root, first - 1);
  }
  return column;
}

type RoutedEdge = readonly [from: string, to: string, passed: readonly Place[]];

/** Connects each step to its children, through a waypoint in every column between them. */
function connectSteps(steps: readonly NamedStep[], places: ReadonlyMap<string, Place>, columns: Place[][]): RoutedEdge[] {
  const ways: RoutedEdge[] = [];
  let left = WAYPOINTS_MAX;
  for (const { name, needs } of steps) {
    const child = places.get(name);
    for (const need of new Set(needs)) {
      const parent = places.get(need);
      if (!parent || !child || parent.column >= child.column) continue;
      const length = child.column - parent.column - 1;
      const passed = length > left ? [] : Array.from({ length }, (_, index) => createPlace(null, parent.column + 1 + index));
      left -= passed.length;
      for (const each of passed) columns[each.column]?.push(each);
      ways.push([need, name, passed]);
      if (passed.length < length) continue;
      const chain = [parent, ...passed, child];
      chain.slice(1).forEach((each, index) => {
        const last = chain[index] as Place;
        last.after.push(each);
        each.before.push(last);
      });
    }
  }
  return ways;
}

/** Applies a function to each column in turn, with the neighbours of its places in the previous column. */
function sweepColumns(columns: readonly Place[][], isForward: boolean, act: (column: Place[], beside: (each: Place) => readonly Place[]) => void): void {
  for (const column of isForward ? columns : [...columns].reverse()) act(column, isForward ? (each) => each.before : (each) => each.after);
}

/** Sorts a column by the mean position of its neighbours; a place without neighbours keeps its position. */
function sortColumn(column: Place[], beside: (each: Place) => readonly Place[]): void {
  column.forEach((each, index) => {
    each.y = mean(beside(each), index);
  });
  column.sort((one, other) => one.y - other.y);
  // From here on `y` is the position in the column, which the next column uses.
  column.forEach((each, index) => {
    each.y = index;
  });
}

function mean(places: readonly Place[], otherwise: number): number {
  if (places.length === 0) return otherwise;
  let sum = 0;
  for (const each of places) sum += each.y;
  return sum / places.length;
}

/** Computes the y position of each place: as near to its neighbours as the places above and below allow. */
function assignPositions(columns: readonly Place[][], measures: Measures): void {
  for (const column of columns) {
    column.forEach((each, index) => {
      each.y = index * (measures.height + measures.between);
    });
  }
  const apart = (one: Place, other: Place) => heightOf(one, measures) / 2 + heightOf(other, measures) / 2 + measures.between;
  for (let sweep = 0; sweep < SWEEPS; sweep += 1) {
    sweepColumns(columns, sweep % 2 === 0, (column, beside) => {
      placeColumn(column, column.map((each) => mean(beside(each), each.y)), apart);
    });
  }
}

function heightOf(each: Place, { height }: Measures): number {
  return each.name === null ? 0 : height;
}

/** Minimises the squared distance to the wanted positions while keeping the minimum gaps: neighbours
 * that want to be too close form a block, which is placed at the average of its members' wishes. */
function placeColumn(column: readonly Place[], wished: readonly number[], apart: (one: Place, other: Place) => number): void {
  const blocks: { sum: number; count: number }[] = [];
  const offsets: number[] = [];
  let offset = 0;
  column.forEach((each, index) => {
    if (index > 0) offset += apart(column[index - 1] as Place, each);
    offsets.push(offset);
    let block = { sum: (wished[index] ?? 0) - offset, count: 1 };
    for (let last = blocks.at(-1); last && last.sum / last.count >= block.sum / block.count; last = blocks.at(-1)) {
      block = { sum: last.sum + block.sum, count: last.count + block.count };
      blocks.pop();
    }
    blocks.push(block);
  });
  let index = 0;
  for (const block of blocks) {
    for (let left = block.count; left > 0; left -= 1, index += 1) {
      (column[index] as Place).y = block.sum / block.count + (offsets[index] ?? 0);
    }
  }
}

function measureLayout(columns: readonly Place[][], places: ReadonlyMap<string, Place>, ways: readonly RoutedEdge[], measures: Measures): Layout {
  const { width, height, across, margin } = measures;
  const all = columns.flat();
  const top = Math.min(...all.map((each) => each.y - height / 2));
  const bottom = Math.max(...all.map((each) => each.y + height / 2));
  const left = (each: Place) => margin + each.column * (width + across);
  const middle = (each: Place) => each.y - top + margin;
  const at = new Map<string, Point>();
  for (const [name, each] of places) at.set(name, { x: left(each), y: middle(each) - height / 2 });
  const edges = ways.map(([from, to, passed]) => {
    const [parent, child] = [places.get(from) as Place, places.get(to) as Place];
    const points = [{ x: left(parent) + width, y: middle(parent) }];
    for (const each of passed) points.push({ x: left(each), y: middle(each) }, { x: left(each) + width, y: middle(each) });
    return { from, to, points: [...points, { x: left(child), y: middle(child) }] };
  });
  if (all.length === 0) return { width: 2 * margin, height: 2 * margin, at, edges };
  return { width: columns.length * (width + across) - across + 2 * margin, height: bottom - top + 2 * margin, at, edges };
}
