// Converts a job to the fields of a form and back. Only changed fields are sent. Pure.
import { JOB_FIELDS } from "../../api/job_fields.gen.ts";
import type { JobDraft, JobEdit, JobView } from "../../api/schema.gen.ts";
import { shortenIsoDuration } from "../../lib/time.ts";
import { type JsonObject, readDocument, writeDocument } from "./expectFields.ts";
import { type ScheduleForm, formOf, isSame, scheduleOf } from "./schedules.ts";

export type FieldName = (typeof JOB_FIELDS)[number]["name"];

/** Texts by the field names of the API; an empty text means null. */
export type JobForm = { name: string; kind: string; labels: string; schedule: ScheduleForm } & Record<FieldName, string>;

/** The names of priorities that the API accepts. */
const PRIORITIES: Record<string, number> = { high: 1, medium: 5, normal: 5, low: 9 };

/** A form with the contract's defaults. */
export function blankForm(zone: string): JobForm {
  const schedule = formOf(null, zone);
  return { ...fieldTexts((field) => field.default), name: "", kind: "", labels: "", schedule: { ...schedule, mode: "cron" } };
}

/** A form that runs a task immediately, with the options that its handler declares. */
export function fromTask(kind: string, policy: Record<string, unknown> | null, zone: string): JobForm {
  const form = blankForm(zone);
  const text = (name: string, otherwise: string) => (typeof policy?.[name] === "string" ? policy[name] : otherwise);
  const time = (name: string, otherwise: string) => durationText(text(name, otherwise));
  const retries = policy?.["retries"];
  const max = typeof retries === "object" && retries !== null ? (retries as { max?: unknown }).max : retries;
  return {
    ...form,
    kind,
    schedule: { ...form.schedule, mode: "immediate" },
    queue: text("queue", form.queue),
    priority: priorityOf(policy?.["priority"], form.priority),
    guarantee: text("guarantee", form.guarantee),
    retries: typeof max === "number" ? String(max) : form.retries,
    timeout: time("timeout", form.timeout),
    deadline: time("deadline", form.deadline),
  };
}

function durationText(text: string): string {
  if (text === "none") return "";
  return text.startsWith("P") ? shortenIsoDuration(text) : text;
}

function priorityOf(value: unknown, otherwise: string): string {
  const named = typeof value === "string" ? PRIORITIES[value] : value;
  return typeof named === "number" ? String(named) : otherwise;
}

export function fromJob(job: JobView, zone: string): JobForm {
  return {
    ...fieldTexts((field) => (field.kind === "retries" ? job.max_retries : job[field.name])),
    name: job.name,
    kind: job.kind,
    schedule: formOf(job.schedule, zone),
    labels: Object.entries(job.labels)
      .map(([key, value]) => `${key}: ${value}`)
      .join("\n"),
  };
}

function fieldTexts(valueOf: (field: (typeof JOB_FIELDS)[number]) => unknown): Record<FieldName, string> {
  const found = JOB_FIELDS.map((field) => {
    const value = valueOf(field);
    const text = value === null || value === undefined ? "" : field.kind === "document" ? writeDocument(value as JsonObject) : String(value);
    return [field.name, field.kind === "duration" && text !== "" ? shortenIsoDuration(text) : text];
  });
  return Object.fromEntries(found) as Record<FieldName, string>;
}

/** Parses lines such as `team: billing`. */
export function parseLabels(text: string): { labels: Record<string, string>; error: string | null } {
  const labels: Record<string, string> = {};
  for (const line of text.split("\n")) {
    if (line.trim() === "") continue;
    const [, key, value] = /^\s*([^:]+?)\s*:\s*(.*?)\s*$/.exec(line) ?? [];
    if (!key || value === undefined) return { labels, error: `Invalid label "${line.trim()}": expected key: value, for example team: billing.` };
    labels[key] = value;
  }
  return { labels, error: null };
}

/** The errors of the form, by field. */
export function validateForm(form: JobForm, zone: string): Record<string, string> {
  const found: Record<string, string> = {};
  const schedule = scheduleOf(form.schedule, zone);
  if (schedule.error) found["schedule"] = schedule.error;
  const labels = parseLabels(form.labels);
  if (labels.error) found["labels"] = labels.error;
  if (!form.kind.trim() && !form.name.trim()) found["kind"] = "Enter a kind or a name.";
  if (!/^\d{1,3}$/.test(form.retries.trim())) found["retries"] = "Must be a number from 0 to 100.";
  return found;
}

/** The request body for a new job; fields with default values are left to the API. */
export function draftOf(form: JobForm, payload: unknown, zone: string): JobDraft {
  const defaults = blankForm(zone);
  const draft: JobDraft = { ...changedFields(form, defaults), schedule: scheduleOf(form.schedule, zone).schedule ?? { on_demand: true } };
  if (form.name.trim()) draft.name = form.name.trim();
  if (form.kind.trim()) draft.kind = form.kind.trim();
  if (payload !== null && payload !== undefined) draft.payload = payload;
  return draft;
}

/** The request body for an edit: only fields that differ from the job. */
export function editOf(job: JobView, form: JobForm, payload: unknown, zone: string): JobEdit {
  const before = fromJob(job, zone);
  const edit: JobEdit = changedFields(form, before);
  if (form.name.trim() !== before.name) edit.name = form.name.trim();
  if (form.kind.trim() !== before.kind) edit.kind = form.kind.trim();
  const { schedule } = scheduleOf(form.schedule, zone);
  if (schedule && !isSame(schedule, scheduleOf(before.schedule, zone).schedule)) edit.schedule = schedule;
  if (!isSame(payload ?? null, job.payload ?? null)) edit.payload = payload ?? null;
  return edit;
}

/** The changed fields that a new job and an edit have in common. */
function changedFields(form: JobForm, before: JobForm): JobEdit {
  const edit: Record<string, unknown> = {};
  for (const field of JOB_FIELDS) {
    const text = form[field.name].trim();
    if (form[field.name] === before[field.name]) continue;
    if (field.kind === "retries") edit["max_retries"] = Number(text);
    else if (field.kind === "number") edit[field.name] = Number(text);
    else if (field.kind === "document") edit[field.name] = text === "" ? null : readDocument(text);
    else edit[field.name] = text === "" && field.isNullable ? null : text;
  }
  if (form.labels !== before.labels) edit["labels"] = parseLabels(form.labels).labels;
  return edit;
}
