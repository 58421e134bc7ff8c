// Reads server-sent events with fetch, which unlike EventSource reports why a stream was rejected and
// allows a timeout on silence. Used by the live feed and the log tail.
import { fetchOrThrow } from "./client.ts";
import { readProblem } from "./problem.ts";

export interface StreamEvent {
  id: string;
  event: string;
  data: string;
}

/** The server sends something every 15 seconds; after this much silence the connection is dead. */
const SILENCE_MAX_MS = 40_000;

/** The longest time to process events without a break, in milliseconds: a burst of thousands of events
 * must not delay typing or scrolling. */
const SLICE_MS = 8;

/** Reads until the stream ends. `url` is a path of this server, as in /ui/v1/feed. Throws a ProblemError
 * if the server rejects it, and an AbortError if `signal` aborts or the stream is silent for too long. */
export async function readStream(
  url: string,
  options: { last?: string; signal: AbortSignal; onOpen?: () => void; onEvent: (event: StreamEvent) => void },
): Promise<void> {
  const silence = new AbortController();
  let watch = setTimeout(() => silence.abort(), SILENCE_MAX_MS);
  try {
    const response = await fetchOrThrow(url, {
      headers: { Accept: "text/event-stream", ...(options.last ? { "Last-Event-ID": options.last } : {}) },
      signal: AbortSignal.any([options.signal, silence.signal]),
    });
    if (!response.ok || !response.body) throw await readProblem(response);
    options.onOpen?.();
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = "";
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      clearTimeout(watch);
      watch = setTimeout(() => silence.abort(), SILENCE_MAX_MS);
      const parts = (rest + value).split("\n\n");
      rest = parts.pop() ?? "";
      await deliverEvents(parts, options);
    }
  } finally {
    clearTimeout(watch);
  }
}

async function deliverEvents(parts: readonly string[], { signal, onEvent }: { signal: AbortSignal; onEvent: (event: StreamEvent) => void }): Promise<void> {
  let end = performance.now() + SLICE_MS;
  for (const part of parts) {
    const event = parseStreamEvent(part);
    if (event) onEvent(event);
    if (performance.now() < end) continue;
    await new Promise((done) => setTimeout(done));
    if (signal.aborted) return;
    end = performance.now() + SLICE_MS;
  }
}

/** Parses an event of a stream; null for a comment. */
export function parseStreamEvent(text: string): StreamEvent | null {
  const found: StreamEvent = { id: "", event: "message", data: "" };
  for (const line of text.split("\n")) {
    if (line.startsWith("id: ")) found.id = line.slice(4);
    else if (line.startsWith("event: ")) found.event = line.slice(7);
    else if (line.startsWith("data: ")) found.data += (found.data ? "\n" : "") + line.slice(6);
  }
  return found.data === "" ? null : found;
}
