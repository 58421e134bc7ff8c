// Computes what the run list and the run page show. Pure.
import type { AttemptView, LogLine, RunView } from "../../api/schema.gen.ts";
import { FAILED_STATUSES } from "../../lib/states.ts";

export const ACTIVE_STATUSES = new Set(["scheduled", "blocked", "queued", "retrying", "running", "cancelling"]);

/** The views that the list offers, each with the statuses that it queries. */
export const VIEWS = ["all", "waiting", "running", "failed", "succeeded", "unrun"] as const;
export type View = (typeof VIEWS)[number];

type Status = "blocked" | "cancelled" | "cancelling" | "coalesced" | "dead" | "expired" | "lost" | "missed" | "quarantined" | "queued" | "retrying" | "running" | "skipped" | "succeeded";

export const VIEW_STATUSES: Record<View, readonly Status[]> = {
  all: [],
  waiting: ["queued", "retrying", "blocked"],
  running: ["running", "cancelling"],
  failed: ["dead", "lost", "quarantined", "expired"],
  succeeded: ["succeeded"],
  unrun: ["skipped", "missed", "coalesced", "cancelled"],
};

export const VIEW_NAMES: Record<View, string> = {
  all: "All",
  waiting: "Waiting",
  running: "Running",
  failed: "Failed",
  succeeded: "Succeeded",
  unrun: "Not run",
};

const STATUSES = new Set<string>(Object.values(VIEW_STATUSES).flat());

/** The statuses in the URL. */
export function statusesOf(params: URLSearchParams): Status[] {
  return params.getAll("status").filter((each): each is Status => STATUSES.has(each));
}

/** The view with these statuses; null for any other combination. */
export function viewOf(statuses: readonly string[]): View | null {
  const chosen = [...statuses].sort().join();
  return VIEWS.find((view) => [...VIEW_STATUSES[view]].sort().join() === chosen) ?? null;
}

/** The reason of a run's status, in a few words. */
export function reasonOf(run: Pick<RunView, "error_message" | "reason" | "progress_message" | "status">): string {
  if (run.status === "running") return run.progress_message ?? "";
  if (run.error_message) return run.error_message;
  const code = run.reason?.["code"];
  const why = run.reason?.["reason"];
  if (typeof why === "string" && why) return why;
  return typeof code === "string" && !(run.status === "cancelled" && code === "cancelled") ? code.replaceAll("_", " ") : "";
}

/** One bar of the waterfall. */
export interface Bar {
  kind: "waited" | "ran";
  state: string;
  label: string;
  error: string | null;
  start: number;
  end: number;
}

export interface Waterfall {
  start: number;
  end: number;
  bars: readonly Bar[];
}

type Timed = Pick<RunView, "due_at" | "created_at" | "status">;

/** The waterfall of a run: waiting, attempts, and waiting for the next attempt. */
export function waterfall(run: Timed, attempts: readonly AttemptView[], now: number): Waterfall | null {
  const bars: Bar[] = [];
  let since = Math.max(Date.parse(run.due_at), Date.parse(run.created_at));
  for (const attempt of attempts) {
    if (attempt.start_time === null) continue;
    const start = Date.parse(attempt.start_time);
    if (start > since) bars.push({ kind: "waited", state: bars.length === 0 ? "queued" : "retrying", label: bars.length === 0 ? "waited" : "waited for retry", error: null, start: since, end: start });
    const end = attempt.end_time === null ? Math.max(now, start) : Date.parse(attempt.end_time);
    bars.push({ kind: "ran", state: attempt.outcome, label: `attempt ${attempt.attempt_number}`, error: attempt.error_message, start, end });
    since = end;
  }
  if (run.status === "queued" || run.status === "retrying" || run.status === "blocked") {
    if (now > since) bars.push({ kind: "waited", state: run.status, label: "waiting", error: null, start: since, end: now });
  }
  const [first] = bars;
  if (!first) return null;
  const end = Math.max(...bars.map((bar) => bar.end));
  return { start: first.start, end: Math.max(end, first.start + 1), bars };
}

export type Level = "debug" | "info" | "warning" | "error" | "rota";

/** A line of the log. */
export interface Line {
  key: string;
  attempt: number;
  at: string;
  level: Level;
  text: string;
}

const LEVEL_PREFIX = /^\s*(?:\[?)(DEBUG|INFO|WARN|WARNING|ERROR|CRITICAL|FATAL)\b/;
const LEVELS: Record<string, Level> = { DEBUG: "debug", INFO: "info", WARN: "warning", WARNING: "warning", ERROR: "error", CRITICAL: "error", FATAL: "error" };

/** The level of a line: from its prefix, or from its stream. */
export function levelOf(stream: string, text: string): Level {
  if (stream === "rota") return "rota";
  if (stream === "error") return "error";
  const word = LEVEL_PREFIX.exec(text)?.[1];
  if (word) return LEVELS[word] ?? "info";
  return stream === "stderr" ? "warning" : "info";
}

// Colours and other terminal control sequences.
const CONTROL_SEQUENCES = /\u001b\[[0-9;?]*[ -/]*[@-~]|[\u0000-\u0008\u000b\u000c\u000e-\u001f]/g;

/** The lines of a chunk of output. The last line may continue in the next chunk. */
export function linesOf(piece: LogLine): Line[] {
  const text = piece.text.endsWith("\n") ? piece.text.slice(0, -1) : piece.text;
  return text.split("\n").map((line, place) => {
    const plain = line.replace(/\r$/, "").replace(CONTROL_SEQUENCES, "");
    return {
      key: `${piece.attempt_number}.${piece.seq}.${place}`,
      attempt: piece.attempt_number,
      at: piece.at,
      level: levelOf(piece.stream, plain),
      text: plain,
    };
  });
}

/** Filters lines by text, level and attempt. */
export function filterLines(lines: readonly Line[], search: string, levels: ReadonlySet<Level>, attempt: number | null): readonly Line[] {
  const wanted = search.toLowerCase();
  if (!wanted && levels.size === 0 && attempt === null) return lines;
  return lines.filter(
    (line) => (levels.size === 0 || levels.has(line.level)) && (attempt === null || line.attempt === attempt) && (!wanted || line.text.toLowerCase().includes(wanted)),
  );
}

/** Removes the error message from a sentence about a failed run; the page shows it below. */
export function withoutError(sentence: string): string {
  return sentence.replace(/ (because of|with) [^]*$/, ".");
}

/** The reason of a run without its error; null if nothing else is left. */
export function otherReason(reason: RunView["reason"]): Record<string, unknown> | null {
  if (reason === null) return null;
  const { type, message, frame: _, ...rest } = reason;
  return message === undefined && type === undefined ? reason : Object.keys(rest).length > 0 ? rest : null;
}

/** The actions that a run with this status allows. */
export function allowedActions(status: string): { cancel: boolean; force: boolean; retry: boolean; replay: boolean } {
  const isAlive = ACTIVE_STATUSES.has(status);
  return { cancel: isAlive && status !== "cancelling", force: status === "running" || status === "cancelling", retry: FAILED_STATUSES.has(status) || status === "cancelled", replay: !isAlive };
}

