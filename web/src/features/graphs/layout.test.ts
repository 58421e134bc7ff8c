import { expect, test } from "vitest";
import { type NamedStep, layOutSteps } from "./layout.ts";
import { drawGraph, fitZoom, visibleSteps, nextZoom, stepsOf, tiles } from "./model.ts";

const MEASURES = { width: 100, height: 40, across: 20, between: 10, margin: 5 };

/** Steps in layers, each needing some of the layer before. */
function layered(layers: number, wide: number, needs: number): NamedStep[] {
  const names = (layer: number) => Array.from({ length: wide }, (_, index) => `${layer}.${index}`);
  return Array.from({ length: layers }, (_, layer) =>
    names(layer).map((name, index) => ({ name, needs: layer === 0 ? [] : Array.from({ length: needs }, (_, need) => `${layer - 1}.${(index * 7 + need * 3) % wide}`) })),
  ).flat();
}

function overlaps(steps: readonly NamedStep[]): number[] {
  const { at } = layOutSteps(steps, MEASURES);
  const xs = new Set([...at.values()].map(({ x }) => x));
  return [...xs].flatMap((x) => {
    const ys = [...at.values()].filter((each) => each.x === x).map(({ y }) => y).sort((one, other) => one - other);
    return ys.filter((y, index) => index > 0 && y - ys[index - 1]! < MEASURES.height + MEASURES.between - 0.01);
  });
}

test.each([
  [1, 1, 0],
  [5, 4, 2],
  [10, 30, 3],
  [20, 50, 3],
  [2, 500, 1],
])("steps of %i layers of %i do not overlap, and are to the right of what they need", (layers, wide, needs) => {
  const steps = layered(layers, wide, needs);
  const { at, width, height } = layOutSteps(steps, MEASURES);
  expect(overlaps(steps)).toEqual([]);
  const wrong = steps.filter(({ name, needs: parents }) => parents.some((parent) => at.get(parent)!.x >= at.get(name)!.x));
  const outside = [...at.values()].filter(({ x, y }) => x < 4.9 || y < 4.9 || x + 100 > width - 4.9 || y + 40 > height - 4.9);
  expect([wrong, outside]).toEqual([[], []]);
});

test("a chain is laid out in a straight line", () => {
  const chain = Array.from({ length: 300 }, (_, index) => ({ name: String(index), needs: index ? [String(index - 1)] : [] }));
  const { at } = layOutSteps(chain, MEASURES);
  expect(new Set([...at.values()].map(({ y }) => y)).size).toBe(1);
});

test("the parents of one child are placed around it, and a tree has no crossings", () => {
  const { at } = layOutSteps([{ name: "a", needs: [] }, { name: "b", needs: [] }, { name: "c", needs: ["a", "b"] }], MEASURES);
  expect(at.get("c")!.y).toBeCloseTo((at.get("a")!.y + at.get("b")!.y) / 2);
  const tree = ["a", "b", "c"].flatMap((parent) => [{ name: parent, needs: [] }, ...[1, 2].map((each) => ({ name: `${parent}${each}`, needs: [parent] }))]);
  const shuffled = layOutSteps(tree.toSorted((one, other) => other.name.length - one.name.length || other.name.localeCompare(one.name)), MEASURES).at;
  const children = [...shuffled].filter(([name]) => name.length === 2).toSorted(([, one], [, other]) => one.y - other.y);
  expect(children.map(([name]) => name[0]).join("")).toMatch(/^(..)(..)(..)$/);
  for (const index of [0, 2, 4]) expect(children[index]![0][0]).toBe(children[index + 1]![0][0]);
});

test("an edge over many columns passes between their steps", () => {
  const chain = [..."abcd"].map((name, index) => ({ name, needs: index ? ["abcd"[index - 1]!] : [] }));
  const { at, edges } = layOutSteps([...chain, { name: "e", needs: ["a", "d"] }], MEASURES);
  const long = edges.find(({ from, to }) => from === "a" && to === "e")!;
  expect(long.points).toHaveLength(8);
  for (const point of long.points.slice(1, -1)) {
    for (const { x, y } of at.values()) expect(point.x > x && point.x < x + 100 && point.y > y && point.y < y + 40).toBe(false);
  }
});

test("an invalid graph is drawn all the same", () => {
  const { at } = layOutSteps([{ name: "a", needs: ["b"] }, { name: "b", needs: ["a"] }, { name: "c", needs: ["missing", "c"] }], MEASURES);
  expect([...at.keys()]).toEqual(["a", "b", "c"]);
  expect(layOutSteps([], MEASURES).width).toBe(10);
});

test("a step that needs every other step takes no place in every column", () => {
  const chain = Array.from({ length: 1000 }, (_, index) => ({ name: String(index), needs: index ? [String(index - 1)] : [] }));
  const { edges } = layOutSteps([...chain, { name: "last", needs: chain.map(({ name }) => name) }], MEASURES);
  expect(edges).toHaveLength(1999);
});

test("of a large graph only visible steps are rendered, and small steps are one shape per tone", () => {
  const { steps } = drawGraph(stepsOf({ steps: layered(10, 30, 1).map((step) => ({ ...step, kind: "k" })) }));
  expect(visibleSteps(steps, { left: 0, top: 0, right: 300, bottom: 300 }).length).toBeLessThan(20);
  expect(visibleSteps(steps, null)).toEqual([]);
  expect(visibleSteps(steps.slice(0, 50), { left: 0, top: 0, right: 1, bottom: 1 })).toHaveLength(50);
  expect(tiles(steps, (name) => (name === "0.0" ? "bad" : "good")).map(([tone, shape]) => [tone, shape.match(/M/g)?.length])).toEqual([["bad", 1], ["good", 299]]);
});

test("the zoom fits the drawing, and has limits", () => {
  expect(fitZoom({ width: 100, height: 100 }, 800, 600)).toBe(1);
  expect(fitZoom({ width: 2_000, height: 100 }, 800, 600)).toBe(0.4);
  expect(fitZoom({ width: 1e6, height: 100 }, 800, 600)).toBe(0.08);
  expect([nextZoom(1, 1), nextZoom(1.25, 1), nextZoom(0.08, -1), nextZoom(0.4, -1), nextZoom(0.4, 1)]).toEqual([1.25, 1.25, 0.08, 0.3, 0.5]);
});
