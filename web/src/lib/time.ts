// Formats times and durations for display. Pure: the current time and the zone are arguments.

// One locale for everyone: the date format is part of the design, and a browser without a language
// reports a locale that Intl rejects ("en-US@posix").
const LOCALE = "en-GB";
const formats = new Map<string, Intl.DateTimeFormat>();

export type Precision = "minute" | "second" | "milli";

function intlFormat(zone: string, precision: Precision): Intl.DateTimeFormat {
  const key = `${zone} ${precision}`;
  let found = formats.get(key);
  if (!found) {
    found = new Intl.DateTimeFormat(LOCALE, {
      timeZone: zone,
      hourCycle: "h23",
      year: "numeric",
      month: "2-digit",
      day: "2-digit",
      hour: "2-digit",
      minute: "2-digit",
      ...(precision === "minute" ? {} : { second: "2-digit" }),
      ...(precision === "milli" ? { fractionalSecondDigits: 3 } : {}),
    });
    formats.set(key, found);
  }
  return found;
}

/** The browser's time zone. */
export function browserZone(): string {
  try {
    return new Intl.DateTimeFormat(LOCALE).resolvedOptions().timeZone || "UTC";
  } catch {
    return "UTC";
  }
}

/** As in 2026-11-16 10:07:25. */
export function formatTime(at: string | number | Date, zone: string, precision: Precision = "second"): string {
  const date = new Date(at);
  if (Number.isNaN(date.getTime())) return String(at);
  const whole = new Date(date.getTime() + zoneOffset(date.getTime(), zone)).toISOString();
  // Years of more or less than four digits have a sign.
  const end = { minute: 16, second: 19, milli: 23 }[precision];
  return /^\d/.test(whole) ? whole.slice(0, end).replace("T", " ") : formatWithIntl(date, zone, precision);
}

const QUARTER = 900_000;
const shifts = new Map<string, number>();

/** The offset of a zone from UTC. Clocks change at full quarters of an hour, so the offset is cached per
 * quarter: a list shows a thousand times, and a formatter takes ten times as long as an addition. */
function zoneOffset(at: number, zone: string): number {
  const start = Math.floor(at / QUARTER) * QUARTER;
  const key = `${zone} ${start}`;
  let found = shifts.get(key);
  if (found === undefined) {
    found = Date.parse(`${formatWithIntl(new Date(start), zone, "second").replace(" ", "T")}Z`) - start;
    if (shifts.size > 10_000) shifts.clear();
    shifts.set(key, found);
  }
  return found;
}

function formatWithIntl(date: Date, zone: string, precision: Precision): string {
  const part = Object.fromEntries(
    intlFormat(zone, precision)
      .formatToParts(date)
      .map(({ type, value }) => [type, value]),
  ) as Record<string, string>;
  const seconds = precision === "minute" ? "" : `:${part["second"] ?? "00"}`;
  const fraction = precision === "milli" ? `.${part["fractionalSecond"] ?? "000"}` : "";
  return `${part["year"]}-${part["month"]}-${part["day"]} ${part["hour"]}:${part["minute"]}${seconds}${fraction}`;
}

/** A time in UTC, with its zone: for hover texts. */
export function formatUtc(at: string | number | Date): string {
  return `${formatTime(at, "UTC", "second")} UTC`;
}

const UNITS: ReadonlyArray<readonly [number, string]> = [
  [86_400, "d"],
  [3_600, "h"],
  [60, "min"],
  [1, "s"],
];

/** A duration in at most two units: 1 h 5 min, 3.2 s, 40 ms. */
export function formatDuration(seconds: number): string {
  if (!Number.isFinite(seconds)) return "–";
  const sign = seconds < 0 ? "−" : "";
  const span = Math.abs(seconds);
  if (span === 0) return "0 s";
  if (span < 0.001) return `${sign}< 1 ms`;
  if (span < 0.9995) return `${sign}${Math.round(span * 1000)} ms`;
  if (span < 9.95) return `${sign}${trimZeros(span, 1)} s`;
  let rest = Math.round(span);
  const parts: string[] = [];
  for (const [size, unit] of UNITS) {
    const count = Math.floor(rest / size);
    if (count > 0 || parts.length > 0) {
      if (count > 0) parts.push(`${count} ${unit}`);
      rest -= count * size;
      if (parts.length === 2 || (parts.length === 1 && count === 0)) break;
    }
  }
  return sign + parts.join(" ");
}

function trimZeros(value: number, digits: number): string {
  return value.toFixed(digits).replace(/\.0+$/, "");
}

/** A duration in one unit, for narrow places. */
export function formatDurationShort(seconds: number): string {
  const span = Math.abs(seconds);
  for (const [size, unit] of UNITS) {
    if (span >= size) return `${Math.floor(span / size)} ${unit}`;
  }
  return "0 s";
}

/** As in "3 min ago" and "in 2 h". */
export function formatRelative(at: string | number | Date, now: number): string {
  const seconds = (new Date(at).getTime() - now) / 1000;
  if (Number.isNaN(seconds)) return String(at);
  if (Math.abs(seconds) < 1) return "now";
  return seconds < 0 ? `${formatDurationShort(seconds)} ago` : `in ${formatDurationShort(seconds)}`;
}

/** Seconds between two times; without an end, until now. */
export function secondsBetween(start: string | null, end: string | null, now: number): number | null {
  if (start === null) return null;
  const last = end === null ? now : new Date(end).getTime();
  return (last - new Date(start).getTime()) / 1000;
}

const ISO = /^P(?:(\d+(?:\.\d+)?)W)?(?:(\d+(?:\.\d+)?)D)?(?:T(?:(\d+(?:\.\d+)?)H)?(?:(\d+(?:\.\d+)?)M)?(?:(\d+(?:\.\d+)?)S)?)?$/;

/** Seconds of an ISO 8601 duration such as PT15M; null for any other text. */
export function parseIsoDuration(iso: string): number | null {
  const found = ISO.exec(iso);
  if (!found) return null;
  const [, weeks, days, hours, minutes, secs] = found.map((part) => Number(part ?? 0));
  return (weeks ?? 0) * 604_800 + (days ?? 0) * 86_400 + (hours ?? 0) * 3_600 + (minutes ?? 0) * 60 + (secs ?? 0);
}

/** An ISO 8601 duration in the short form that users type and the API accepts: 15m, 1h30m. */
export function shortenIsoDuration(iso: string): string {
  const span = parseIsoDuration(iso);
  if (span === null) return iso;
  if (span < 1) return `${Math.round(span * 1000)}ms`;
  let rest = span;
  let text = "";
  for (const [size, unit] of [[86_400, "d"], [3_600, "h"], [60, "m"]] as const) {
    const count = Math.floor(rest / size);
    if (count > 0) text += `${count}${unit}`;
    rest -= count * size;
  }
  if (rest > 0) text += `${trimZeros(rest, 3)}s`;
  return text || "0s";
}

/** The value of an <input type="datetime-local"> for a time, in the given zone. */
export function toInputValue(at: number | string, zone: string): string {
  return formatTime(at, zone, "minute").replace(" ", "T");
}

/** Converts the value of such an input, a local time in a zone, to RFC 3339. */
export function fromInputValue(wall: string, zone: string): string | null {
  const guess = Date.parse(`${wall}Z`);
  if (Number.isNaN(guess)) return null;
  // The offset at the guess is wrong only near a clock change; a second lookup corrects it.
  const first = guess - offsetAt(guess, zone);
  const second = guess - offsetAt(first, zone);
  return new Date(second).toISOString().replace(/\.000Z$/, "Z");
}

function offsetAt(at: number, zone: string): number {
  const whole = Math.floor(at / 1000) * 1000;
  return Date.parse(`${formatTime(whole, zone).replace(" ", "T")}Z`) - whole;
}

const INSTANT = /(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d:\d\d)(?: UTC|Z)/g;

/** Splits a sentence of the API into the times in it and the text around them. */
export function splitTimes(text: string): { text: string; at: string | null }[] {
  const parts: { text: string; at: string | null }[] = [];
  let end = 0;
  for (const found of text.matchAll(INSTANT)) {
    if (found.index > end) parts.push({ text: text.slice(end, found.index), at: null });
    parts.push({ text: found[0], at: `${found[1]}T${found[2]}Z` });
    end = found.index + found[0].length;
  }
  if (end < text.length) parts.push({ text: text.slice(end), at: null });
  return parts;
}
