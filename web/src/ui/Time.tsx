// Shows times and durations. Times are in the page's time zone; the hover text adds the zone and UTC.
import { Fragment, useSyncExternalStore } from "react";
import { type Precision, secondsBetween, splitTimes, formatDuration, formatRelative, formatTime, formatUtc } from "../lib/time.ts";
import { readZoneChoice, zoneName } from "../lib/zone.ts";

let now = Date.now();
const watchers = new Set<() => void>();
let timer: ReturnType<typeof setInterval> | null = null;

/** The current time, updated once a second by one timer for the whole page. */
export function useNow(): number {
  return useSyncExternalStore(
    (watcher) => {
      watchers.add(watcher);
      timer ??= setInterval(() => {
        now = Date.now();
        for (const notify of watchers) notify();
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

/** The time zone of the page; the top bar shows it. */
export const ZONE = zoneName(readZoneChoice());

/** The hover text of a time: the absolute time with its zone, and UTC. */
export function hoverText(at: string, precision: Precision = "second"): string {
  const local = `${formatTime(at, ZONE, precision)} ${ZONE}`;
  return ZONE === "UTC" ? local : `${local}\n${formatUtc(at)}`;
}

/** A time; a dash if `at` is null. `relative` shows "3 min ago" and the absolute time on hover. */
export function Time({ at, as = "stamp" }: { at: string | null; as?: "stamp" | "relative" | "milli" }) {
  if (at === null) return <span className="faint">–</span>;
  const precision = as === "milli" ? "milli" : "second";
  return (
    <time dateTime={at} title={hoverText(at, precision)}>
      {as === "relative" ? <RelativeTime at={at} /> : formatTime(at, ZONE, precision)}
    </time>
  );
}

/** A sentence of the API, with its times in the page's time zone. */
export function TextWithTimes({ text }: { text: string }) {
  return (
    <>
      {splitTimes(text).map((part, place) => (
        <Fragment key={place}>{part.at === null ? part.text : <Time at={part.at} />}</Fragment>
      ))}
    </>
  );
}

function RelativeTime({ at }: { at: string }) {
  return formatRelative(at, useNow());
}

/** The duration, up to now if there is no end yet. */
export function Duration({ start, end }: { start: string | null; end: string | null }) {
  if (start === null) return <span className="faint">–</span>;
  return end === null ? <RunningDuration start={start} /> : <>{formatDuration(secondsBetween(start, end, 0) ?? 0)}</>;
}

function RunningDuration({ start }: { start: string }) {
  return <>{formatDuration(Math.max(0, secondsBetween(start, null, useNow()) ?? 0))}</>;
}

export function Length({ seconds }: { seconds: number | null }) {
  return seconds === null ? <span className="faint">–</span> : <>{formatDuration(seconds)}</>;
}
