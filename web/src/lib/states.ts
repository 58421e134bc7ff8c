// How statuses of runs and jobs look: tone, icon and word. Colour is never the only difference.

export type Tone = "good" | "bad" | "busy" | "wait" | "warn" | "idle";

interface StatusLook {
  tone: Tone;
  /** The name of an icon in ui/Icon. */
  icon: "check" | "cross" | "play" | "clock" | "redo" | "dash" | "pause" | "stop" | "alert" | "dot" | "merge";
  word: string;
}

const STATUS_LOOKS: Record<string, StatusLook> = {
  // runs
  scheduled: { tone: "idle", icon: "clock", word: "scheduled" },
  blocked: { tone: "idle", icon: "pause", word: "blocked" },
  queued: { tone: "wait", icon: "clock", word: "queued" },
  retrying: { tone: "warn", icon: "redo", word: "retrying" },
  running: { tone: "busy", icon: "play", word: "running" },
  cancelling: { tone: "warn", icon: "stop", word: "cancelling" },
  succeeded: { tone: "good", icon: "check", word: "succeeded" },
  dead: { tone: "bad", icon: "cross", word: "dead" },
  cancelled: { tone: "idle", icon: "stop", word: "cancelled" },
  skipped: { tone: "idle", icon: "dash", word: "skipped" },
  missed: { tone: "warn", icon: "alert", word: "missed" },
  coalesced: { tone: "idle", icon: "merge", word: "coalesced" },
  expired: { tone: "bad", icon: "clock", word: "expired" },
  lost: { tone: "bad", icon: "alert", word: "lost" },
  quarantined: { tone: "bad", icon: "alert", word: "quarantined" },
  // attempts
  failed: { tone: "bad", icon: "cross", word: "failed" },
  timed_out: { tone: "bad", icon: "clock", word: "timed out" },
  // jobs
  active: { tone: "good", icon: "dot", word: "active" },
  pending: { tone: "wait", icon: "clock", word: "pending" },
  paused: { tone: "warn", icon: "pause", word: "paused" },
  finished: { tone: "idle", icon: "check", word: "finished" },
  deleted: { tone: "idle", icon: "cross", word: "deleted" },
};

export function statusLook(state: string): StatusLook {
  return STATUS_LOOKS[state] ?? { tone: "idle", icon: "dot", word: state.replaceAll("_", " ") };
}

/** Failed: a strip shows these in red. */
export const FAILED_STATUSES = new Set(["dead", "lost", "quarantined", "expired"]);
/** Did not run: a strip shows these in grey, with the reason. */
export const NOT_RUN_STATUSES = new Set(["skipped", "missed", "coalesced", "cancelled"]);
