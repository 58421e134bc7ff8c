// How the states of runs and jobs are told: tone, sign and word. Colour is never the only difference.

export type Tone = "good" | "bad" | "busy" | "wait" | "warn" | "idle";

interface Look {
  tone: Tone;
  /** The name of a shape in ui/Icon. */
  sign: "check" | "cross" | "play" | "clock" | "redo" | "dash" | "pause" | "stop" | "alert" | "dot" | "merge";
  word: string;
}

const LOOKS: Record<string, Look> = {
  // runs
  scheduled: { tone: "idle", sign: "clock", word: "scheduled" },
  blocked: { tone: "idle", sign: "pause", word: "blocked" },
  queued: { tone: "wait", sign: "clock", word: "queued" },
  retrying: { tone: "warn", sign: "redo", word: "retrying" },
  running: { tone: "busy", sign: "play", word: "running" },
  cancelling: { tone: "warn", sign: "stop", word: "cancelling" },
  succeeded: { tone: "good", sign: "check", word: "succeeded" },
  dead: { tone: "bad", sign: "cross", word: "dead" },
  cancelled: { tone: "idle", sign: "stop", word: "cancelled" },
  skipped: { tone: "idle", sign: "dash", word: "skipped" },
  missed: { tone: "warn", sign: "alert", word: "missed" },
  coalesced: { tone: "idle", sign: "merge", word: "coalesced" },
  expired: { tone: "bad", sign: "clock", word: "expired" },
  lost: { tone: "bad", sign: "alert", word: "lost" },
  quarantined: { tone: "bad", sign: "alert", word: "quarantined" },
  // attempts
  failed: { tone: "bad", sign: "cross", word: "failed" },
  timed_out: { tone: "bad", sign: "clock", word: "timed out" },
  // jobs
  active: { tone: "good", sign: "dot", word: "active" },
  pending: { tone: "wait", sign: "clock", word: "pending" },
  paused: { tone: "warn", sign: "pause", word: "paused" },
  finished: { tone: "idle", sign: "check", word: "finished" },
  deleted: { tone: "idle", sign: "cross", word: "deleted" },
};

export function look(state: string): Look {
  return LOOKS[state] ?? { tone: "idle", sign: "dot", word: state.replaceAll("_", " ") };
}

/** Ended badly: what a strip shows red. */
export const BAD = new Set(["dead", "lost", "quarantined", "expired"]);
/** Did not run: what a strip shows grey, with the reason. */
export const UNRUN = new Set(["skipped", "missed", "coalesced", "cancelled"]);
