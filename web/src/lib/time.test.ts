import { expect, test } from "vitest";
import { secondsBetween, shortenIsoDuration, toInputValue, fromInputValue, splitTimes, formatDuration, formatRelative, parseIsoDuration, formatTime, formatUtc } from "./time.ts";

test("a time is shown in the viewer's zone and, on hover, in UTC", () => {
  expect(formatTime("2026-11-16T10:07:25Z", "Europe/Berlin")).toBe("2026-11-16 11:07:25");
  expect(formatTime("2026-07-01T00:30:00Z", "America/New_York", "minute")).toBe("2026-06-30 20:30");
  expect(formatTime("2026-11-16T10:07:25.1239Z", "UTC", "milli")).toBe("2026-11-16 10:07:25.123");
  expect(formatUtc("2026-11-16T10:07:25Z")).toBe("2026-11-16 10:07:25 UTC");
});

test.each([
  ["2026-10-25T00:59:59Z", "Europe/Berlin", "2026-10-25 02:59:59"],
  ["2026-10-25T01:00:00Z", "Europe/Berlin", "2026-10-25 02:00:00"],
  ["2026-04-04T14:59:59Z", "Australia/Lord_Howe", "2026-04-05 01:59:59"],
  ["2026-04-04T15:00:00Z", "Australia/Lord_Howe", "2026-04-05 01:30:00"],
  ["2026-01-01T00:14:59Z", "Asia/Kathmandu", "2026-01-01 05:59:59"],
  ["2026-12-31T23:59:59Z", "Pacific/Kiritimati", "2027-01-01 13:59:59"],
])("%s in %s is %s", (at, zone, expected) => {
  expect(formatTime(at, zone)).toBe(expected);
});

test("a text that is not a time is shown unchanged", () => {
  expect(formatTime("soon", "UTC")).toBe("soon");
});

test.each([
  [0, "0 s"],
  [0.0004, "< 1 ms"],
  [0.0187, "19 ms"],
  [0.9996, "1 s"],
  [3.24, "3.2 s"],
  [59.6, "1 min"],
  [61, "1 min 1 s"],
  [3_600, "1 h"],
  [3_900, "1 h 5 min"],
  [90_061, "1 d 1 h"],
  [-5, "−5 s"],
])("%d seconds are shown as %s", (value, expected) => {
  expect(formatDuration(value)).toBe(expected);
});

test("a relative time says how far away it is", () => {
  const now = Date.parse("2026-11-16T10:00:00Z");
  expect(formatRelative("2026-11-16T09:57:00Z", now)).toBe("3 min ago");
  expect(formatRelative("2026-11-16T12:30:00Z", now)).toBe("in 2 h");
  expect(formatRelative("2026-11-16T10:00:00.4Z", now)).toBe("now");
});

test("a span without an end lasts until now", () => {
  const now = Date.parse("2026-11-16T10:00:05Z");
  expect(secondsBetween("2026-11-16T10:00:00Z", null, now)).toBe(5);
  expect(secondsBetween("2026-11-16T10:00:00Z", "2026-11-16T10:00:02Z", now)).toBe(2);
  expect(secondsBetween(null, null, now)).toBeNull();
});

test("ISO 8601 durations are parsed and shown in short form", () => {
  expect(parseIsoDuration("PT15M")).toBe(900);
  expect(parseIsoDuration("P1DT2H")).toBe(93_600);
  expect(parseIsoDuration("15m")).toBeNull();
  expect(shortenIsoDuration("PT1H30M")).toBe("1h30m");
  expect(shortenIsoDuration("PT0.5S")).toBe("500ms");
  expect(shortenIsoDuration("P2D")).toBe("2d");
  expect(shortenIsoDuration("whatever")).toBe("whatever");
});

test.each([
  ["2026-11-16T11:00", "Europe/Berlin", "2026-11-16T10:00:00Z"],
  ["2026-07-01T02:30", "America/New_York", "2026-07-01T06:30:00Z"],
  // Just before and just after the clocks went back.
  ["2026-10-25T01:30", "Europe/Berlin", "2026-10-24T23:30:00Z"],
  ["2026-10-25T03:30", "Europe/Berlin", "2026-10-25T02:30:00Z"],
])("%s on a clock in %s is %s", (wall, zone, moment) => {
  expect(fromInputValue(wall, zone)).toBe(moment);
  expect(toInputValue(moment, zone)).toBe(wall);
});

test("a text that is not a time gives null", () => {
  expect(fromInputValue("", "UTC")).toBeNull();
});

test("the times in a sentence of the API are found, and the rest stays", () => {
  expect(splitTimes("It succeeded at 2026-11-17 03:12:04 UTC after running for 4 seconds.")).toEqual([
    { text: "It succeeded at ", at: null },
    { text: "2026-11-17 03:12:04 UTC", at: "2026-11-17T03:12:04Z" },
    { text: " after running for 4 seconds.", at: null },
  ]);
  expect(splitTimes("Every 5 seconds, counted from 2026-11-18 10:01:47Z.").map(({ at }) => at)).toEqual([null, "2026-11-18T10:01:47Z", null]);
  expect(splitTimes("Nothing here.")).toEqual([{ text: "Nothing here.", at: null }]);
});
