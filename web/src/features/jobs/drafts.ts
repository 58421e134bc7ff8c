// A job as the fields of a form, and back: what is sent is only what is different. Pure.
import type { JobDraft, JobEdit, JobView } from "../../api/schema.gen.ts";
import { brief } from "../../lib/time.ts";
import { type ScheduleForm, formOf, isSame, scheduleOf } from "./schedules.ts";

export interface JobForm {
  name: string;
  kind: string;
  schedule: ScheduleForm;
  queue: string;
  priority: string;
  overlap: string;
  whenQueuePaused: string;
  guarantee: string;
  retries: string;
  timeout: string;
  deadline: string;
  labels: string;
  user: string;
}

/** The usual values of a job, as the API has them. */
export function blank(zone: string): JobForm {
  const schedule = formOf(null, zone);
  return {
    name: "",
    kind: "",
    schedule: { ...schedule, mode: "cron" },
    queue: "default",
    priority: "5",
    overlap: "skip",
    whenQueuePaused: "skip",
    guarantee: "at_least_once",
    retries: "3",
    timeout: "15m",
    deadline: "",
    labels: "",
    user: "",
  };
}

export function fromJob(job: JobView, zone: string): JobForm {
  return {
    name: job.name,
    kind: job.kind,
    schedule: formOf(job.schedule, zone),
    queue: job.queue,
    priority: String(job.priority),
    overlap: job.overlap,
    whenQueuePaused: job.when_queue_paused,
    guarantee: job.guarantee,
    retries: String(job.max_retries),
    timeout: job.timeout === null ? "" : brief(job.timeout),
    deadline: job.deadline === null ? "" : brief(job.deadline),
    labels: Object.entries(job.labels)
      .map(([key, value]) => `${key}: ${value}`)
      .join("\n"),
    user: job.user_id ?? "",
  };
}

/** Lines such as `team: billing`. */
export function labelsOf(text: string): { labels: Record<string, string>; error: string | null } {
  const labels: Record<string, string> = {};
  for (const line of text.split("\n")) {
    if (line.trim() === "") continue;
    const [, key, value] = /^\s*([^:]+?)\s*:\s*(.*?)\s*$/.exec(line) ?? [];
    if (!key || value === undefined) return { labels, error: `"${line.trim()}" is no label; write it as team: billing.` };
    labels[key] = value;
  }
  return { labels, error: null };
}

/** What keeps the form from being sent, by field. */
export function wrong(form: JobForm, zone: string): Record<string, string> {
  const found: Record<string, string> = {};
  const schedule = scheduleOf(form.schedule, zone);
  if (schedule.error) found["schedule"] = schedule.error;
  const labels = labelsOf(form.labels);
  if (labels.error) found["labels"] = labels.error;
  if (!form.kind.trim() && !form.name.trim()) found["kind"] = "Say which kind carries it out.";
  if (!/^\d{1,3}$/.test(form.retries.trim())) found["retries"] = "Write a number from 0 to 100.";
  return found;
}

/** All of it, for a new job; what is as usual is left to the API. */
export function draftOf(form: JobForm, payload: unknown, zone: string): JobDraft {
  const usual = blank(zone);
  const draft: JobDraft = { ...common(form, usual), schedule: scheduleOf(form.schedule, zone).schedule ?? { on_demand: true } };
  if (form.name.trim()) draft.name = form.name.trim();
  if (form.kind.trim()) draft.kind = form.kind.trim();
  if (payload !== null && payload !== undefined) draft.payload = payload;
  return draft;
}

/** Only what is different from the job. */
export function editOf(job: JobView, form: JobForm, payload: unknown, zone: string): JobEdit {
  const before = fromJob(job, zone);
  const edit: JobEdit = common(form, before);
  if (form.name.trim() !== before.name) edit.name = form.name.trim();
  if (form.kind.trim() !== before.kind) edit.kind = form.kind.trim();
  const { schedule } = scheduleOf(form.schedule, zone);
  if (schedule && !isSame(schedule, scheduleOf(before.schedule, zone).schedule)) edit.schedule = schedule;
  if (!isSame(payload ?? null, job.payload ?? null)) edit.payload = payload ?? null;
  return edit;
}

/** Fields that a new job and a change of one have in common, where they differ. */
function common(form: JobForm, before: JobForm): JobEdit {
  const edit: JobEdit = {};
  const is = (name: keyof JobForm) => form[name] !== before[name];
  if (is("queue")) edit.queue = form.queue.trim();
  if (is("priority")) edit.priority = Number(form.priority);
  if (is("overlap")) edit.overlap = form.overlap as NonNullable<JobEdit["overlap"]>;
  if (is("whenQueuePaused")) edit.when_queue_paused = form.whenQueuePaused as NonNullable<JobEdit["when_queue_paused"]>;
  if (is("guarantee")) edit.guarantee = form.guarantee as NonNullable<JobEdit["guarantee"]>;
  if (is("retries")) edit.max_retries = Number(form.retries);
  // An empty field is no limit.
  if (is("timeout")) edit.timeout = form.timeout.trim() || null;
  if (is("deadline")) edit.deadline = form.deadline.trim() || null;
  if (is("labels")) edit.labels = labelsOf(form.labels).labels;
  if (is("user")) edit.user_id = form.user.trim() || null;
  return edit;
}
