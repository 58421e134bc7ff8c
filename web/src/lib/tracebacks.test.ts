import { describe, expect, it } from "vitest";
import { splitFrames } from "./tracebacks.ts";

describe("a traceback", () => {
  const frame = (name: string, is_own: boolean) => ({ file: `/p/${name}.py`, line: 1, function: name, code: "", is_own });
  it("shows the user's frames first, the innermost call first", () => {
    const split = splitFrames({ frames: [frame("rota", false), frame("job", true), frame("helper", true), frame("json", false)], omitted_frames: 2 });
    expect(split.first.map((frame) => frame.function)).toEqual(["helper", "job"]);
    expect(split.folded).toBe(4);
  });
  it("shows the last frames if no frame is the user's", () => {
    const split = splitFrames({ frames: ["a", "b", "c", "d"].map((name) => frame(name, false)), omitted_frames: 0 });
    expect(split.first.map((frame) => frame.function)).toEqual(["d", "c", "b"]);
  });
});
