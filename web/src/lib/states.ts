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
  // incidents, messages, expectations, channels and webhooks
  open: { tone: "bad", icon: "alert", word: "open" },
  acknowledged: { tone: "wait", icon: "check", word: "acknowledged" },
  silenced: { tone: "idle", icon: "pause", word: "silenced" },
  resolved: { tone: "good", icon: "check", word: "resolved" },
  sent: { tone: "good", icon: "check", word: "sent" },
  sending: { tone: "busy", icon: "play", word: "sending" },
  suppressed: { tone: "idle", icon: "dash", word: "not sent" },
  digested: { tone: "idle", icon: "merge", word: "in a digest" },
  silence_active: { tone: "warn", icon: "pause", word: "active" },
  silence_pending: { tone: "wait", icon: "clock", word: "pending" },
  silence_ended: { tone: "idle", icon: "check", word: "ended" },
  expectation_ok: { tone: "good", icon: "check", word: "met" },
  expectation_pending: { tone: "warn", icon: "clock", word: "pending" },
  expectation_firing: { tone: "bad", icon: "alert", word: "not met" },
  expectation_unknown: { tone: "idle", icon: "dash", word: "unknown" },
  ping_new: { tone: "idle", icon: "clock", word: "no signal yet" },
  ping_up: { tone: "good", icon: "check", word: "up" },
  ping_down: { tone: "bad", icon: "alert", word: "down" },
  ping_running: { tone: "busy", icon: "play", word: "running" },
  channel_ok: { tone: "good", icon: "check", word: "works" },
  channel_failing: { tone: "bad", icon: "alert", word: "failing" },
  channel_unknown: { tone: "idle", icon: "dash", word: "no process has it" },
  failing: { tone: "bad", icon: "alert", word: "failing" },
  enabled: { tone: "good", icon: "dot", word: "enabled" },
  disabled: { tone: "idle", icon: "pause", word: "disabled" },
  delivered: { tone: "good", icon: "check", word: "delivered" },
  held: { tone: "warn", icon: "pause", word: "held" },
  dropped: { tone: "idle", icon: "dash", word: "dropped" },
  // severities of problems and incidents
  info: { tone: "busy", icon: "dot", word: "info" },
  warning: { tone: "warn", icon: "alert", word: "warning" },
  page: { tone: "bad", icon: "alert", word: "page" },
};

export function statusLook(state: string): StatusLook {
  return STATUS_LOOKS[state] ?? { tone: "idle", icon: "dot", word: state.replaceAll("_", " ") };
}

/** Failed: a strip shows these in red. */
export const FAILED_STATUSES = new Set(["dead", "lost", "quarantined", "expired"]);
/** Did not run: a strip shows these in grey, with the reason. */
export const NOT_RUN_STATUSES = new Set(["skipped", "missed", "coalesced", "cancelled"]);
