// The live feed: one stream for the whole page, told in batches of at most four a second, so that 500
// events a second cost four renders.
//
//   useLive(["run.ended"], (batch) => …);
//   const link = useLink();   // "live" | "connecting" | "polling" | "off"
import { useEffect, useRef, useSyncExternalStore } from "react";
import { ProblemError } from "./problem.ts";
import { ended } from "./session.ts";
import { type StreamEvent, readStream } from "./stream.ts";

export type EventType =
  | "run.made"
  | "run.started"
  | "run.progressed"
  | "run.cancelling"
  | "run.attempted"
  | "run.ended"
  | "job.changed"
  | "lagged";

export interface LiveEvent {
  id: string;
  type: EventType | "quiet";
  at: string;
  job_id?: string;
  job_name?: string | null;
  run_id?: string;
  /** Of the run of a step: the graph run that it belongs to. */
  graph_run_id?: string;
  status?: string;
  attempt?: number;
  progress?: number;
  message?: string;
  missed?: Record<string, number>;
}

export type Link = "off" | "connecting" | "live" | "polling";

const BATCH = 250;
const MOST = 2_000;

type Listener = { types: ReadonlySet<string>; tell: (batch: LiveEvent[]) => void };

const listeners = new Set<Listener>();
const watchers = new Set<() => void>();
let link: Link = "off";
let waiting: LiveEvent[] = [];
/** How many of each type there was no room for. */
let passed: Record<string, number> = {};
let timer: ReturnType<typeof setTimeout> | null = null;
let stream: AbortController | null = null;

function become(next: Link): void {
  if (link === next) return;
  link = next;
  for (const each of watchers) each();
}

/** How the page is connected; "polling": the feed is refused, and pages read again now and then. */
export function useLink(): Link {
  return useSyncExternalStore(
    (watcher) => {
      watchers.add(watcher);
      return () => watchers.delete(watcher);
    },
    () => link,
  );
}

/** Calls with what happened since the last time. `lagged` tells everybody: read anew. */
export function useLive(types: readonly EventType[], tell: (batch: LiveEvent[]) => void): void {
  const latest = useRef(tell);
  latest.current = tell;
  const names = types.join(" ");
  useEffect(() => {
    if (names === "") return;
    const listener: Listener = { types: new Set(names.split(" ")), tell: (batch) => latest.current(batch) };
    listeners.add(listener);
    return () => {
      listeners.delete(listener);
    };
  }, [names]);
}

function push(event: LiveEvent): void {
  waiting.push(event);
  timer ??= setTimeout(flush, BATCH);
}

/** Takes what the stream told. What nobody waits for is not even read, and beyond so many events
 * nobody looks at each: they are counted, and whoever lists reads anew. */
function take(told: StreamEvent): void {
  const isLagged = told.event === "lagged";
  if (!isLagged && ![...listeners].some(({ types }) => types.has(told.event))) return;
  if (!isLagged && waiting.length >= MOST) {
    passed[told.event] = (passed[told.event] ?? 0) + 1;
    return;
  }
  const event = eventOf(told);
  if (event) push(event);
}

function flush(): void {
  timer = null;
  const batch = waiting;
  if (Object.keys(passed).length > 0) batch.push({ id: last, type: "lagged", at: new Date().toISOString(), missed: passed });
  [waiting, passed] = [[], {}];
  const isLagged = batch.some((event) => event.type === "lagged");
  for (const listener of listeners) {
    const own = isLagged ? batch : batch.filter((event) => listener.types.has(event.type));
    if (own.length > 0) listener.tell(own);
  }
}

/** A page that nobody sees for so long lets go of its stream: a key may have five. */
const UNSEEN = 30_000;
let unseen: ReturnType<typeof setTimeout> | null = null;
/** The id of the last event, to go on from. */
let last = "";

/** Opens the stream, and again whenever it ends, until `disconnect`. */
export function connect(): void {
  document.addEventListener("visibilitychange", look);
  begin();
}

export function disconnect(): void {
  document.removeEventListener("visibilitychange", look);
  if (unseen) clearTimeout(unseen);
  unseen = null;
  last = "";
  end();
}

function begin(): void {
  if (stream) return;
  stream = new AbortController();
  void follow(stream);
}

function end(): void {
  stream?.abort();
  stream = null;
  become("off");
}

function look(): void {
  if (unseen) clearTimeout(unseen);
  unseen = document.hidden ? setTimeout(end, UNSEEN) : null;
  if (!document.hidden) begin();
}

async function follow(own: AbortController): Promise<void> {
  let wait = 500;
  while (!own.signal.aborted) {
    if (link !== "polling") become("connecting");
    try {
      await readStream("/ui/v1/feed", {
        last,
        signal: own.signal,
        opened: () => become("live"),
        tell: (told) => {
          last = told.id || last;
          wait = 500;
          take(told);
        },
      });
    } catch (caught) {
      if (own.signal.aborted) return;
      // Too many streams of this key are open, or this process has none: look now and then.
      if (caught instanceof ProblemError && caught.status > 0) {
        if (caught.status === 401) ended();
        become("polling");
        wait = 15_000;
      }
    }
    await rest(wait * (0.75 + Math.random() / 2), own.signal);
    wait = Math.min(wait * 2, 15_000);
    if (link === "polling") push({ id: last, type: "lagged", at: new Date().toISOString() });
  }
}

/** One event of the feed; null for what only keeps the line open. */
export function eventOf({ id, data }: StreamEvent): LiveEvent | null {
  try {
    const event = { ...(JSON.parse(data) as LiveEvent), id };
    return event.type === "quiet" ? null : event;
  } catch {
    return null;
  }
}

function rest(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((done) => {
    const handle = setTimeout(done, milliseconds);
    signal.addEventListener("abort", () => {
      clearTimeout(handle);
      done();
    });
  });
}
