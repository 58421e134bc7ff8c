// What the list and the page of a run show, computed. Pure.
import type { AttemptView, LogLine, RunView } from "../../api/schema.gen.ts";
import { BAD, look } from "../../lib/states.ts";

export const ALIVE = new Set(["scheduled", "blocked", "queued", "retrying", "running", "cancelling"]);

/** The states that the list offers, each with what it asks the API for. */
export const VIEWS = ["all", "waiting", "running", "failed", "succeeded", "unrun"] as const;
export type View = (typeof VIEWS)[number];

type Status = "blocked" | "cancelled" | "cancelling" | "coalesced" | "dead" | "expired" | "lost" | "missed" | "quarantined" | "queued" | "retrying" | "running" | "skipped" | "succeeded";

export const ASKED: Record<View, readonly Status[]> = {
  all: [],
  waiting: ["queued", "retrying", "blocked"],
  running: ["running", "cancelling"],
  failed: ["dead", "lost", "quarantined", "expired"],
  succeeded: ["succeeded"],
  unrun: ["skipped", "missed", "coalesced", "cancelled"],
};

export const NAMES: Record<View, string> = {
  all: "All",
  waiting: "Waiting",
  running: "Running",
  failed: "Failed",
  succeeded: "Succeeded",
  unrun: "Did not run",
};

const STATUSES = new Set<string>(Object.values(ASKED).flat());

/** The states that the URL names one by one, as links from other pages do. */
export function statusesOf(params: URLSearchParams): Status[] {
  return params.getAll("status").filter((each): each is Status => STATUSES.has(each));
}

/** Which view the URL's states are; null for a choice of their own. */
export function viewOf(statuses: readonly string[]): View | null {
  const chosen = [...statuses].sort().join();
  return VIEWS.find((view) => [...ASKED[view]].sort().join() === chosen) ?? null;
}

/** Why it is as it is, in few words. */
export function reasonOf(run: Pick<RunView, "error_message" | "reason" | "progress_message" | "status">): string {
  if (run.status === "running") return run.progress_message ?? "";
  if (run.error_message) return run.error_message;
  const code = run.reason?.["code"];
  const why = run.reason?.["reason"];
  if (typeof why === "string" && why) return why;
  return typeof code === "string" && !(run.status === "cancelled" && code === "cancelled") ? code.replaceAll("_", " ") : "";
}

/** One bar of the waterfall: a share of the whole from `from` to `to`. */
export interface Bar {
  kind: "waited" | "ran";
  state: string;
  label: string;
  told: string | null;
  start: number;
  end: number;
}

export interface Waterfall {
  start: number;
  end: number;
  bars: readonly Bar[];
}

type Timed = Pick<RunView, "due_at" | "created_at" | "status">;

/** What a run did with its time: it waited, an attempt ran, it waited for the next one. */
export function waterfall(run: Timed, attempts: readonly AttemptView[], now: number): Waterfall | null {
  const bars: Bar[] = [];
  let since = Math.max(Date.parse(run.due_at), Date.parse(run.created_at));
  for (const attempt of attempts) {
    if (attempt.start_time === null) continue;
    const start = Date.parse(attempt.start_time);
    if (start > since) bars.push({ kind: "waited", state: bars.length === 0 ? "queued" : "retrying", label: bars.length === 0 ? "waited" : "waited to try again", told: null, start: since, end: start });
    const end = attempt.end_time === null ? Math.max(now, start) : Date.parse(attempt.end_time);
    bars.push({ kind: "ran", state: attempt.outcome, label: `attempt ${attempt.attempt_number}`, told: attempt.error_message, start, end });
    since = end;
  }
  if (run.status === "queued" || run.status === "retrying" || run.status === "blocked") {
    if (now > since) bars.push({ kind: "waited", state: run.status, label: "waits", told: null, start: since, end: now });
  }
  const [first] = bars;
  if (!first) return null;
  const end = Math.max(...bars.map((bar) => bar.end));
  return { start: first.start, end: Math.max(end, first.start + 1), bars };
}

export type Level = "debug" | "info" | "warning" | "error" | "rota";

/** A line of the log, as it is shown. */
export interface Line {
  key: string;
  attempt: number;
  at: string;
  level: Level;
  text: string;
}

const WORD = /^\s*(?:\[?)(DEBUG|INFO|WARN|WARNING|ERROR|CRITICAL|FATAL)\b/;
const LEVELS: Record<string, Level> = { DEBUG: "debug", INFO: "info", WARN: "warning", WARNING: "warning", ERROR: "error", CRITICAL: "error", FATAL: "error" };

/** How much a line matters: what it says of itself, or where it was written. */
export function levelOf(stream: string, text: string): Level {
  if (stream === "rota") return "rota";
  if (stream === "error") return "error";
  const word = WORD.exec(text)?.[1];
  if (word) return LEVELS[word] ?? "info";
  return stream === "stderr" ? "warning" : "info";
}

// Colours and other orders to a terminal; here they would be noise.
const ORDERS = /\u001b\[[0-9;?]*[ -/]*[@-~]|[\u0000-\u0008\u000b\u000c\u000e-\u001f]/g;

/** The lines of a piece of output. A piece ends where it was cut, so its last line may go on. */
export function linesOf(piece: LogLine): Line[] {
  const text = piece.text.endsWith("\n") ? piece.text.slice(0, -1) : piece.text;
  return text.split("\n").map((line, place) => {
    const plain = line.replace(/\r$/, "").replace(ORDERS, "");
    return {
      key: `${piece.attempt_number}.${piece.seq}.${place}`,
      attempt: piece.attempt_number,
      at: piece.at,
      level: levelOf(piece.stream, plain),
      text: plain,
    };
  });
}

/** Those that are looked for: by text, by level, by attempt. */
export function found(lines: readonly Line[], search: string, levels: ReadonlySet<Level>, attempt: number | null): readonly Line[] {
  const wanted = search.toLowerCase();
  if (!wanted && levels.size === 0 && attempt === null) return lines;
  return lines.filter(
    (line) => (levels.size === 0 || levels.has(line.level)) && (attempt === null || line.attempt === attempt) && (!wanted || line.text.toLowerCase().includes(wanted)),
  );
}

/** A sentence about a failed run without what the error says: the page shows that once, below. */
export function withoutError(sentence: string): string {
  return sentence.replace(/ (because of|with) [^]*$/, ".");
}

/** What else the reason of a run tells, beside the error; null if that is nothing. */
export function otherReason(reason: RunView["reason"]): Record<string, unknown> | null {
  if (reason === null) return null;
  const { type, message, frame: _, ...rest } = reason;
  return message === undefined && type === undefined ? reason : Object.keys(rest).length > 0 ? rest : null;
}

/** What can be done with a run in this state. */
export function possible(status: string): { cancel: boolean; force: boolean; retry: boolean; replay: boolean } {
  const isAlive = ALIVE.has(status);
  return { cancel: isAlive && status !== "cancelling", force: status === "running" || status === "cancelling", retry: BAD.has(status) || status === "cancelled", replay: !isAlive };
}

/** A name for the tab and for screen readers. */
export function titled(run: Pick<RunView, "job_name" | "status">): string {
  return `${run.job_name ?? "Run"}: ${look(run.status).word}`;
}
