// Where the steps of a graph stand: in columns from left to right, parents before children, with few
// crossings and short ways. Pure. A thousand steps take some ten milliseconds; docs/adr/0028 says why
// this is ours.

/** A step, or a place that a long edge passes on its way through a column. */
interface Place {
  name: string | null;
  column: number;
  /** Its middle, once it is known. */
  y: number;
  before: Place[];
  after: Place[];
}

export interface Named {
  name: string;
  needs: readonly string[];
}

export interface Measures {
  width: number;
  height: number;
  /** Between columns, and between two steps of one. */
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

/** Edges beyond these go straight to where they lead: a place in every column would cost too much. */
const MOST_PASSED = 4_000;
const SWEEPS = 8;

export function laidOut(steps: readonly Named[], measures: Measures): Layout {
  const column = columnsOf(steps);
  const places = new Map(steps.map(({ name }) => [name, place(name, column.get(name) ?? 0)]));
  const columns: Place[][] = [];
  for (const each of places.values()) (columns[each.column] ??= []).push(each);
  const ways = joined(steps, places, columns);
  // Columns without a step do not occur, apart from a graph without any.
  const filled = columns.filter((each) => each !== undefined);
  for (let sweep = 0; sweep < SWEEPS; sweep += 1) passes(filled, sweep % 2 === 0, order);
  spread(filled, measures);
  return measured(filled, places, ways, measures);
}

function place(name: string | null, column: number): Place {
  return { name, column, y: 0, before: [], after: [] };
}

/** The column of each step: one after the last of its parents. A step that needs nobody stands right
 * before its first child. */
function columnsOf(steps: readonly Named[]): Map<string, number> {
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

type Way = readonly [from: string, to: string, passed: readonly Place[]];

/** Joins each step with its children, through a place in every column between them. */
function joined(steps: readonly Named[], places: ReadonlyMap<string, Place>, columns: Place[][]): Way[] {
  const ways: Way[] = [];
  let left = MOST_PASSED;
  for (const { name, needs } of steps) {
    const child = places.get(name);
    for (const need of new Set(needs)) {
      const parent = places.get(need);
      if (!parent || !child || parent.column >= child.column) continue;
      const length = child.column - parent.column - 1;
      const passed = length > left ? [] : Array.from({ length }, (_, index) => place(null, parent.column + 1 + index));
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

/** Does something to every column in turn, with what its places are joined to in the one before it. */
function passes(columns: readonly Place[][], isForward: boolean, act: (column: Place[], beside: (each: Place) => readonly Place[]) => void): void {
  for (const column of isForward ? columns : [...columns].reverse()) act(column, isForward ? (each) => each.before : (each) => each.after);
}

/** Sorts a column by the mean of where its neighbours stand; who has none stays. */
function order(column: Place[], beside: (each: Place) => readonly Place[]): void {
  column.forEach((each, index) => {
    each.y = mean(beside(each), index);
  });
  column.sort((one, other) => one.y - other.y);
  // From here on `y` is the place in the column, for the next one to look at.
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

/** Gives each place its height: as near to its neighbours as those above and below it leave room. */
function spread(columns: readonly Place[][], measures: Measures): void {
  for (const column of columns) {
    column.forEach((each, index) => {
      each.y = index * (measures.height + measures.between);
    });
  }
  const apart = (one: Place, other: Place) => room(one, measures) / 2 + room(other, measures) / 2 + measures.between;
  for (let sweep = 0; sweep < SWEEPS; sweep += 1) {
    passes(columns, sweep % 2 === 0, (column, beside) => {
      settle(column, column.map((each) => mean(beside(each), each.y)), apart);
    });
  }
}

function room(each: Place, { height }: Measures): number {
  return each.name === null ? 0 : height;
}

/** The least sum of squares from what is wished, with everybody far enough apart: neighbours that
 * wish to stand too close become a block, which stands where its members wish on average. */
function settle(column: readonly Place[], wished: readonly number[], apart: (one: Place, other: Place) => number): void {
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

function measured(columns: readonly Place[][], places: ReadonlyMap<string, Place>, ways: readonly Way[], measures: Measures): Layout {
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
