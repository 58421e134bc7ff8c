// Selects and orders the frames of a traceback. Pure.

export interface Frame {
  file: string;
  line: number;
  function: string;
  code: string;
  is_own: boolean;
}

export interface TracedError {
  relation: string;
  type: string;
  message: string | null;
  depth: number;
  frames: readonly Frame[];
  omitted_frames: number;
}

/** The frames to show first, the innermost call first: the user's own, or else the last three. */
export function splitFrames(error: Pick<TracedError, "frames" | "omitted_frames">): { first: readonly Frame[]; folded: number } {
  const own = error.frames.filter((frame) => frame.is_own);
  const first = own.length > 0 ? own : error.frames.slice(-3);
  return { first: first.toReversed(), folded: error.frames.length - first.length + error.omitted_frames };
}

const RELATIONS: Record<string, string> = { cause: "Caused by", context: "While handling", member: "Exception group member:" };

export function relationLabel(relation: string): string {
  return RELATIONS[relation] ?? relation;
}
