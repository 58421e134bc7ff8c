// Moments and lengths of time. Moments are shown in the viewer's zone, with UTC on hover.
import { useSyncExternalStore } from "react";
import { between, length, ownZone, relative, stamp, utc } from "../lib/time.ts";

let now = Date.now();
const watchers = new Set<() => void>();
let timer: ReturnType<typeof setInterval> | null = null;

/** The present, once a second, for all who show it: one timer for the page. */
export function useNow(): number {
  return useSyncExternalStore(
    (watcher) => {
      watchers.add(watcher);
      timer ??= setInterval(() => {
        now = Date.now();
        for (const each of watchers) each();
      }, 1000);
      return () => {
        watchers.delete(watcher);
        if (watchers.size === 0 && timer) {
          clearInterval(timer);
          timer = null;
        }
      };
    },
    () => now,
  );
}

export const ZONE = ownZone();

/** Without `at` a dash. `relative` says "3 min ago" and keeps the date for the hover. */
export function Time({ at, as = "stamp" }: { at: string | null; as?: "stamp" | "relative" | "milli" }) {
  if (at === null) return <span className="faint">–</span>;
  const local = stamp(at, ZONE, as === "milli" ? "milli" : "second");
  const title = as === "relative" ? `${local} ${ZONE}\n${utc(at)}` : utc(at);
  return (
    <time dateTime={at} title={title}>
      {as === "relative" ? <Ago at={at} /> : local}
    </time>
  );
}

function Ago({ at }: { at: string }) {
  return relative(at, useNow());
}

/** How long it took, or has taken so far if it has no end yet. */
export function Duration({ start, end }: { start: string | null; end: string | null }) {
  if (start === null) return <span className="faint">–</span>;
  return end === null ? <Running start={start} /> : <>{length(between(start, end, 0) ?? 0)}</>;
}

function Running({ start }: { start: string }) {
  return <>{length(Math.max(0, between(start, null, useNow()) ?? 0))}</>;
}

export function Length({ seconds }: { seconds: number | null }) {
  return seconds === null ? <span className="faint">–</span> : <>{length(seconds)}</>;
}
