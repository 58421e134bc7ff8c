import { expect, test } from "vitest";
import type { JobView, RunView } from "../../api/schema.gen.ts";
import { blankForm, draftOf, editOf, fromJob, parseLabels, validateForm } from "./drafts.ts";
import { EXPECT_FIELDS, readDocument, withField, writeDocument } from "./expectFields.ts";
import { describeDetails } from "./historyText.ts";
import { runDurations, isOneTime, toOutcomes, reasonOf, sortJobs, parseSort, summarizeTicks, summarizeSchedule } from "./model.ts";
import { formOf, scheduleOf } from "./schedules.ts";

const ZONE = "Europe/Berlin";
const STORED = {
  calendars: [],
  cron: "30 2 * * *",
  day_match: "any",
  dst: { gap: "run_after", overlap: "first" },
  jitter: null,
  misfire: { late_after: "PT1M", max_catchup: 100, on_edit: "skip", on_outage: "once", on_resume: "skip", pace: null, start_deadline: null },
  on_blackout: "skip",
  timezone: "Europe/Berlin",
  window: { end: null, max_runs: 7, start: null },
};

function job(changes: Partial<JobView> = {}): JobView {
  return {
    job_id: "job_1", name: "nightly", kind: "report", schedule_type: "CRON", cron_expression: "30 2 * * *", schedule_time: null, schedule: STORED,
    timezone: "Europe/Berlin", status: "active", payload: { pages: 1 }, max_retries: 3, retries: {}, timeout: "PT15M", deadline: null, grace: "PT10S",
    guarantee: "at_least_once", queue: "default", priority: 5, overlap: "skip", keep_first: false, when_queue_paused: "skip", limits: [], labels: { team: "billing" }, user_id: null,
    held: null, next_run_at: null, version: 1, created_at: "", updated_at: "", ...changes,
  } as JobView;
}

function run(changes: Partial<RunView>): RunView {
  return { run_id: "run_1", status: "succeeded", scheduled_at: "2026-11-16T10:00:00Z", due_at: "2026-11-16T10:00:00Z", start_time: null, end_time: null, reason: null, error_message: null, ...changes } as RunView;
}

test("an unchanged form sends nothing", () => {
  const found = job();
  expect(editOf(found, fromJob(found, ZONE), found.payload, ZONE)).toEqual({});
});

test("only changed fields are sent", () => {
  const found = job();
  const form = { ...fromJob(found, ZONE), queue: "slow", labels: "team: billing\nenv: prod" };
  expect(editOf(found, form, { pages: 2 }, ZONE)).toEqual({ queue: "slow", labels: { team: "billing", env: "prod" }, payload: { pages: 2 } });
});

test("a changed expression keeps the fields that the form does not show", () => {
  const form = formOf(STORED, ZONE);
  const { schedule } = scheduleOf({ ...form, texts: { ...form.texts, cron: "0 4 * * *" } }, ZONE);
  expect(schedule).toEqual({ ...STORED, cron: "0 4 * * *" });
});

test("an unchanged interval keeps its anchor", () => {
  const every = { interval: "PT15M", anchor: "2026-01-01T00:10:00Z" };
  const form = formOf({ every }, ZONE);
  expect(form.texts.every).toBe("15m");
  expect(scheduleOf(form, ZONE).schedule?.["every"]).toEqual(every);
  expect(scheduleOf({ ...form, texts: { ...form.texts, every: "20m" } }, ZONE).schedule?.["every"]).toBe("20m");
});

test("a time is typed in the viewer's time zone", () => {
  const form = formOf({ at: "2030-01-31T09:00:00Z", timezone: "UTC" }, ZONE);
  expect(form.texts.at).toBe("2030-01-31T10:00");
  expect(scheduleOf(form, ZONE).schedule?.["at"]).toBe("2030-01-31T09:00:00Z");
});

test("a schedule with several rules is edited as JSON", () => {
  expect(formOf({ cron: ["0 1 * * *", "0 2 * * *"] }, ZONE).mode).toBe("json");
  expect(formOf({ cron: "0 1 * * *", every: "PT1H" }, ZONE).mode).toBe("json");
  expect(formOf(null, ZONE).mode).toBe("on_demand");
});

test("an on-demand schedule has no times and no options", () => {
  const form = { ...formOf(STORED, ZONE), mode: "on_demand" as const };
  expect(scheduleOf(form, ZONE).schedule).toEqual({ on_demand: true });
});

test("a new job sends only values that differ from the defaults", () => {
  const form = { ...blankForm(ZONE), name: " nightly ", kind: "report" };
  const draft = draftOf(form, null, ZONE);
  expect(Object.keys(draft).sort()).toEqual(["kind", "name", "schedule"]);
  expect(draft.name).toBe("nightly");
  expect(draft.schedule?.["timezone"]).toBe(ZONE);
});

test("when_queue_paused is sent only when it changes", () => {
  const before = job({ when_queue_paused: "accumulate" });
  const form = fromJob(before, ZONE);
  expect(editOf(before, { ...form, when_queue_paused: "skip" }, before.payload, ZONE)).toEqual({ when_queue_paused: "skip" });
  expect(editOf(before, form, before.payload, ZONE)).toEqual({});
  expect(draftOf({ ...blankForm(ZONE), kind: "a" }, null, ZONE)).not.toHaveProperty("when_queue_paused");
});

test("errors of the form are sentences, by field", () => {
  const form = blankForm(ZONE);
  const found = validateForm({ ...form, schedule: { ...form.schedule, texts: { ...form.schedule.texts, cron: " " } }, retries: "many", labels: "nonsense" }, ZONE);
  expect(Object.keys(found).sort()).toEqual(["kind", "labels", "retries", "schedule"]);
});

test("an empty limit is null, and an unchanged limit is not sent", () => {
  const before = job({ timeout: "PT15M", deadline: "PT2H" });
  const form = fromJob(before, ZONE);
  expect(editOf(before, { ...form, timeout: " ", deadline: "" }, before.payload, ZONE)).toEqual({ timeout: null, deadline: null });
  expect(editOf(before, form, before.payload, ZONE)).toEqual({});
  expect(draftOf({ ...blankForm(ZONE), kind: "a", timeout: "" }, null, ZONE)).toMatchObject({ timeout: null });
});

test("a label may have colons in its value", () => {
  expect(parseLabels("url: http://a\n\n b : c ").labels).toEqual({ url: "http://a", b: "c" });
});

test.each([
  [{ schedule: STORED, timezone: "Europe/Berlin" }, "30 2 * * * Europe/Berlin"],
  [{ schedule: { every: "PT15M" }, timezone: "UTC" }, "every 15m"],
  [{ schedule: { fixed_delay: { delay: "PT1H" } }, timezone: "UTC" }, "1h after each run"],
  [{ schedule: { cron: ["0 9 * * *", "0 18 * * *"], every: { interval: "PT5M" } }, timezone: "Europe/Berlin" }, "0 9 * * * + 0 18 * * * + every 5m Europe/Berlin"],
  [{ schedule: { event: "orders.created" }, timezone: null }, "on orders.created"],
  [{ schedule: null, timezone: null, schedule_type: "ON_DEMAND" as const }, "on demand"],
])("a schedule is summarised in a few words: %#", (changes, expected) => {
  expect(summarizeSchedule(job(changes))).toBe(expected);
});

test("jobs are sorted by the chosen column, and jobs without a value come last", () => {
  const jobs = [job({ job_id: "a", name: "b" }), job({ job_id: "b", name: "A", next_run_at: "2026-01-01T00:00:00Z" })];
  const ids = (text: string) => sortJobs(jobs, parseSort(text), new Map()).map((each) => each.job_id);
  expect(ids("name")).toEqual(["b", "a"]);
  expect(ids("-name")).toEqual(["a", "b"]);
  expect(ids("next")).toEqual(["b", "a"]);
  expect(ids("-next")).toEqual(["b", "a"]);
  expect(ids("nonsense")).toEqual(["a", "b"]);
});

test("a job that runs once is one-time, due or not", () => {
  expect(isOneTime(job({ schedule_type: "IMMEDIATE" }))).toBe(true);
  expect(isOneTime(job({ schedule_type: "FUTURE" }))).toBe(true);
  expect(isOneTime(job({ schedule_type: "CRON" }))).toBe(false);
  expect(isOneTime(job({ schedule_type: "ON_DEMAND" }))).toBe(false);
});

test("a tick that did not run has a reason", () => {
  expect(reasonOf(run({ status: "skipped", reason: { code: "overlap" } }))).toBe("previous run still active");
  expect(reasonOf(run({ status: "dead", error_message: "no such customer" }))).toBe("no such customer");
  expect(reasonOf(run({ status: "missed", reason: { code: "something_new" } }))).toBe("something new");
});

test("a strip goes from the oldest to the newest run, and a chart shows only runs that ran", () => {
  const runs = [run({ run_id: "new", status: "skipped" }), run({ run_id: "old", start_time: "2026-11-16T10:00:00Z", end_time: "2026-11-16T10:00:02Z" })];
  expect(toOutcomes(runs, ZONE).map((each) => each.id)).toEqual(["old", "new"]);
  expect(toOutcomes(runs, ZONE)[0]?.description).toBe("2026-11-16 11:00:00: succeeded after 2 s");
  expect(runDurations(runs)).toMatchObject({ seconds: [2], ids: ["old"] });
  expect(summarizeTicks(runs)).toBe("Last 2 ticks: 1 skipped, 1 succeeded.");
});

test("an entry of the history shows its details", () => {
  expect(describeDetails({ details: { reason: "moved", missed: null, number: 3 } })).toBe("reason: moved, number: 3");
  expect(describeDetails({ details: {} })).toBe("");
});

test("what is expected of a job becomes fields, and what the form does not show stays", () => {
  const before = { finish_by: "06:00", succeed_every: "PT26H", max_duration: { times: 2, at_least: "PT5M" }, failures: { streak: 2, rate: 0.1 }, dead_letters: { count: 1, over: "PT1H" } };
  const texts = Object.fromEntries(EXPECT_FIELDS.map((field) => [field.name, field.read(before[field.name as keyof typeof before])]));
  expect(texts).toMatchObject({ finish_by: "06:00", succeed_every: "1d2h", max_duration: "2x", failures: "2", dead_letters: "1", missed_ticks: "" });
  const change = (name: string, text: string) => {
    const field = EXPECT_FIELDS.find((each) => each.name === name);
    if (!field) throw new Error(name);
    return JSON.parse(writeDocument(withField(before, field, text))) as Record<string, unknown>;
  };
  expect(change("failures", "3")["failures"]).toEqual({ streak: 3, rate: 0.1 });
  expect(change("failures", "")["failures"]).toEqual({ rate: 0.1 });
  expect(change("max_duration", "3x")["max_duration"]).toEqual({ times: 3, at_least: "PT5M" });
  expect(change("max_duration", "40m")["max_duration"]).toBe("40m");
  expect(change("finish_by", "")).not.toHaveProperty("finish_by");
  expect(change("dead_letters", "five")["dead_letters"]).toEqual({ count: "five", over: "PT1H" });
});

test("an empty document is an empty text, which is sent as null", () => {
  expect(writeDocument({ finish_by: undefined })).toBe("");
  expect(readDocument("")).toEqual({});
});
