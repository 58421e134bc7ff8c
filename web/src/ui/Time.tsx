// Moments and lengths of time. Moments are shown in the zone that the page names, with UTC on hover.
import { Fragment, useSyncExternalStore } from "react";
import { between, instants, length, relative, stamp, utc } from "../lib/time.ts";
import { zoneChoice, zoneOf } from "../lib/zone.ts";

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

/** The zone of every time on the page; the bar at its top names it. */
export const ZONE = zoneOf(zoneChoice());

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

/** A sentence of the API: the moments in it are shown in the zone of the page. */
export function Told({ text }: { text: string }) {
  return (
    <>
      {instants(text).map((part, place) => (
        <Fragment key={place}>{part.at === null ? part.text : <Time at={part.at} />}</Fragment>
      ))}
    </>
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
