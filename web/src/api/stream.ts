// Server-sent events over fetch: unlike EventSource it tells why it was refused, and its silence can
// be watched. The live feed and the tail of a log are read with it.
import { fetched } from "./client.ts";
import { problemOf } from "./problem.ts";

export interface StreamEvent {
  id: string;
  event: string;
  data: string;
}

/** The server says something every 15 seconds; after this long the line is dead. */
const SILENCE = 40_000;

/** Nothing is worked on for longer than this at a time: a burst of thousands of events must not hold up
 * a key or a scroll. */
const TURN = 8;

/** Reads until the stream ends. `url` is of our own server, as in /ui/v1/feed. Throws a ProblemError
 * if it is refused, and an AbortError if `signal` says so or nothing came for too long. */
export async function readStream(
  url: string,
  reading: { last?: string; signal: AbortSignal; opened?: () => void; tell: (event: StreamEvent) => void },
): Promise<void> {
  const silence = new AbortController();
  let watch = setTimeout(() => silence.abort(), SILENCE);
  try {
    const response = await fetched(url, {
      headers: { Accept: "text/event-stream", ...(reading.last ? { "Last-Event-ID": reading.last } : {}) },
      signal: AbortSignal.any([reading.signal, silence.signal]),
    });
    if (!response.ok || !response.body) throw await problemOf(response);
    reading.opened?.();
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = "";
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      clearTimeout(watch);
      watch = setTimeout(() => silence.abort(), SILENCE);
      const parts = (rest + value).split("\n\n");
      rest = parts.pop() ?? "";
      await told(parts, reading);
    }
  } finally {
    clearTimeout(watch);
  }
}

async function told(parts: readonly string[], { signal, tell }: { signal: AbortSignal; tell: (event: StreamEvent) => void }): Promise<void> {
  let end = performance.now() + TURN;
  for (const part of parts) {
    const event = parsed(part);
    if (event) tell(event);
    if (performance.now() < end) continue;
    await new Promise((done) => setTimeout(done));
    if (signal.aborted) return;
    end = performance.now() + TURN;
  }
}

/** One event of a stream; null for a comment. */
export function parsed(text: string): StreamEvent | null {
  const found: StreamEvent = { id: "", event: "message", data: "" };
  for (const line of text.split("\n")) {
    if (line.startsWith("id: ")) found.id = line.slice(4);
    else if (line.startsWith("event: ")) found.event = line.slice(7);
    else if (line.startsWith("data: ")) found.data += (found.data ? "\n" : "") + line.slice(6);
  }
  return found.data === "" ? null : found;
}
