// The live feed: one stream for the whole page, delivered in batches of at most four per second, so
// that 500 events per second cost four renders.
//
//   useLive(["run.ended"], (batch) => …);
//   const connection = useConnection();   // "live" | "connecting" | "polling" | "off"
import { useEffect, useRef, useSyncExternalStore } from "react";
import { ProblemError } from "./problem.ts";
import { endSession } from "./session.ts";
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
  /** For the run of a step: the graph run that it belongs to. */
  graph_run_id?: string;
  status?: string;
  attempt?: number;
  progress?: number;
  message?: string;
  missed?: Record<string, number>;
}

export type Connection = "off" | "connecting" | "live" | "polling";

const BATCH_MS = 250;
const BATCH_MAX = 2_000;

type Listener = { types: ReadonlySet<string>; onBatch: (batch: LiveEvent[]) => void };

const listeners = new Set<Listener>();
const watchers = new Set<() => void>();
let connection: Connection = "off";
let pending: LiveEvent[] = [];
/** How many events of each type did not fit into the batch. */
let dropped: Record<string, number> = {};
let timer: ReturnType<typeof setTimeout> | null = null;
let stream: AbortController | null = null;

function setConnection(next: Connection): void {
  if (connection === next) return;
  connection = next;
  for (const notify of watchers) notify();
}

/** How the page is connected; "polling": the feed is unavailable, and pages refresh periodically. */
export function useConnection(): Connection {
  return useSyncExternalStore(
    (watcher) => {
      watchers.add(watcher);
      return () => watchers.delete(watcher);
    },
    () => connection,
  );
}

/** Calls back with the events since the last call. A `lagged` event tells every listener to refetch. */
export function useLive(types: readonly EventType[], onBatch: (batch: LiveEvent[]) => void): void {
  const latest = useRef(onBatch);
  latest.current = onBatch;
  const names = types.join(" ");
  useEffect(() => {
    if (names === "") return;
    const listener: Listener = { types: new Set(names.split(" ")), onBatch: (batch) => latest.current(batch) };
    listeners.add(listener);
    return () => {
      listeners.delete(listener);
    };
  }, [names]);
}

function enqueue(event: LiveEvent): void {
  pending.push(event);
  timer ??= setTimeout(flush, BATCH_MS);
}

/** Queues an event of the stream. Ignores events without a listener. Beyond the batch limit it only
 * counts events, and lists refetch. */
function queueEvent(received: StreamEvent): void {
  const isLagged = received.event === "lagged";
  if (!isLagged && ![...listeners].some(({ types }) => types.has(received.event))) return;
  if (!isLagged && pending.length >= BATCH_MAX) {
    dropped[received.event] = (dropped[received.event] ?? 0) + 1;
    return;
  }
  const event = parseLiveEvent(received);
  if (event) enqueue(event);
}

function flush(): void {
  timer = null;
  const batch = pending;
  if (Object.keys(dropped).length > 0) batch.push({ id: lastEventId, type: "lagged", at: new Date().toISOString(), missed: dropped });
  [pending, dropped] = [[], {}];
  const isLagged = batch.some((event) => event.type === "lagged");
  for (const listener of listeners) {
    const own = isLagged ? batch : batch.filter((event) => listener.types.has(event.type));
    if (own.length > 0) listener.onBatch(own);
  }
}

/** A page that is hidden for this long closes its stream: a key may have five. In milliseconds. */
const HIDDEN_MAX_MS = 30_000;
let hiddenTimer: ReturnType<typeof setTimeout> | null = null;
/** The id of the last event, to resume from. */
let lastEventId = "";

/** Opens the stream and reopens it whenever it ends, until `disconnect`. */
export function connect(): void {
  document.addEventListener("visibilitychange", onVisibilityChange);
  openStream();
}

export function disconnect(): void {
  document.removeEventListener("visibilitychange", onVisibilityChange);
  if (hiddenTimer) clearTimeout(hiddenTimer);
  hiddenTimer = null;
  lastEventId = "";
  closeStream();
}

function openStream(): void {
  if (stream) return;
  stream = new AbortController();
  void keepStreaming(stream);
}

function closeStream(): void {
  stream?.abort();
  stream = null;
  setConnection("off");
}

function onVisibilityChange(): void {
  if (hiddenTimer) clearTimeout(hiddenTimer);
  hiddenTimer = document.hidden ? setTimeout(closeStream, HIDDEN_MAX_MS) : null;
  if (!document.hidden) openStream();
}

async function keepStreaming(own: AbortController): Promise<void> {
  let wait = 500;
  while (!own.signal.aborted) {
    if (connection !== "polling") setConnection("connecting");
    try {
      await readStream("/ui/v1/feed", {
        last: lastEventId,
        signal: own.signal,
        onOpen: () => setConnection("live"),
        onEvent: (received) => {
          lastEventId = received.id || lastEventId;
          wait = 500;
          queueEvent(received);
        },
      });
    } catch (caught) {
      if (own.signal.aborted) return;
      // This key has too many open streams, or this process serves no feed: poll instead.
      if (caught instanceof ProblemError && caught.status > 0) {
        if (caught.status === 401) endSession();
        setConnection("polling");
        wait = 15_000;
      }
    }
    await sleep(wait * (0.75 + Math.random() / 2), own.signal);
    wait = Math.min(wait * 2, 15_000);
    if (connection === "polling") enqueue({ id: lastEventId, type: "lagged", at: new Date().toISOString() });
  }
}

/** Parses an event of the feed; null for a keep-alive. */
export function parseLiveEvent({ id, data }: StreamEvent): LiveEvent | null {
  try {
    const event = { ...(JSON.parse(data) as LiveEvent), id };
    return event.type === "quiet" ? null : event;
  } catch {
    return null;
  }
}

function sleep(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((done) => {
    const handle = setTimeout(done, milliseconds);
    signal.addEventListener("abort", () => {
      clearTimeout(handle);
      done();
    });
  });
}
