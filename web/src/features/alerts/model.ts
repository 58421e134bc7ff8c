// Computes what the pages of alerts show. Pure.
import type { IncidentView, PingDraft } from "../../api/schema.gen.ts";
import { fromInputValue, shortenIsoDuration } from "../../lib/time.ts";
import { fieldLabel } from "../../lib/words.ts";

export const TABS = ["incidents", "silences", "rules", "channels", "pings"] as const;
export type Tab = (typeof TABS)[number];
export const STATES = ["open", "acknowledged", "silenced", "resolved"] as const;
export type State = (typeof STATES)[number];
export const SEVERITIES = ["", "page", "warning", "info"] as const;

/** What a silence or a rule applies to, in words: "job nightly*, label team:billing". */
export function describeMatch(match: MatchFields): string {
  const parts = (["job", "step", "task", "queue"] as const).flatMap((name) => (match[name] ? [`${name} ${match[name]}`] : []));
  const labels = Object.entries(match.labels ?? {}).map(([key, value]) => `label ${key}:${value}`);
  return [...parts, ...labels].join(", ") || "every job";
}

export interface MatchFields {
  job?: string | null;
  step?: string | null;
  task?: string | null;
  queue?: string | null;
  labels?: Record<string, string>;
}

/** The part of a silence that matches the subject of an incident; null if a silence cannot match it. */
export function matchOf(subject: IncidentView["subject"]): MatchFields | null {
  const { kind, name } = subject;
  if (kind === "job" || kind === "task" || kind === "queue") return { [kind]: name };
  if (kind === "step") {
    const [job = name, step] = name.split(/\s*\/\s*/);
    return step === undefined ? { job } : { job, step };
  }
  return null;
}

/** What a rule or a silence applies to, as texts of a form; a label is `key:value`. */
export interface MatchTexts {
  job: string;
  task: string;
  queue: string;
  label: string;
}

export const NO_MATCH: MatchTexts = { job: "", task: "", queue: "", label: "" };

export interface SilenceFields extends MatchTexts {
  /** A duration such as 20m, or "until" for a time. */
  length: string;
  until: string;
  reason: string;
}

export const LENGTHS = [
  { value: "20m", label: "20 minutes" },
  { value: "1h", label: "1 hour" },
  { value: "4h", label: "4 hours" },
  { value: "1d", label: "1 day" },
  { value: "7d", label: "7 days" },
  { value: "until", label: "Until a time" },
] as const;

export const NO_SILENCE: SilenceFields = { ...NO_MATCH, length: "1h", until: "", reason: "" };

/** The match of the fields of a form. */
export function matchOfFields(fields: MatchTexts): MatchFields {
  const [key, ...value] = fields.label.split(":");
  return {
    ...(fields.job.trim() ? { job: fields.job.trim() } : {}),
    ...(fields.task.trim() ? { task: fields.task.trim() } : {}),
    ...(fields.queue.trim() ? { queue: fields.queue.trim() } : {}),
    ...(key?.trim() && value.length > 0 ? { labels: { [key.trim()]: value.join(":").trim() } } : {}),
  };
}

/** The end of a silence: a duration, or a time; null while the time is incomplete. */
export function endOfFields(fields: SilenceFields, zone: string): { for: string } | { ends_at: string } | null {
  if (fields.length !== "until") return { for: fields.length };
  const at = fromInputValue(fields.until, zone);
  return at === null ? null : { ends_at: at };
}

/** Where the subject of an incident is shown; null if it has no page. */
export function subjectHref(incident: IncidentView): string | null {
  const { kind, name } = incident.subject;
  if (incident.job_id) return `/jobs/${incident.job_id}`;
  if (kind === "task") return `/tasks/${encodeURIComponent(name)}`;
  if (kind === "queue") return "/queues";
  if (kind === "channel") return "/alerts?tab=channels";
  if (kind === "endpoint") return "/webhooks";
  return null;
}

/** A condition in words: `failure_streak` becomes `Failure streak`. */
export function conditionLabel(condition: string): string {
  return fieldLabel(condition);
}

/** The condition of a rule in words: `{failures: {streak: 2}}` becomes "Failures: streak 2". */
export function describeCondition(when: Record<string, unknown>): string {
  return Object.entries(when)
    .map(([name, value]) => `${fieldLabel(name)}: ${describeValue(value)}`)
    .join(", ");
}

function describeValue(value: unknown): string {
  if (typeof value === "string") return shortenIsoDuration(value);
  if (typeof value === "object" && value !== null) {
    return Object.entries(value)
      .map(([name, part]) => `${name.replaceAll("_", " ")} ${describeValue(part)}`)
      .join(", ");
  }
  return value === true ? "yes" : String(value);
}

/** A step of a route in words: "chat, after 30m, unless acknowledged". */
export function describeStep(step: Record<string, unknown>): string {
  const { to, ...rest } = step;
  const channels = Array.isArray(to) ? to.join(", ") : String(to ?? "default channels");
  const parts = Object.entries(rest).map(([name, value]) => `${name} ${describeValue(value)}`);
  return [channels, ...parts].join("; ");
}

/** When a success of a ping is expected: "every 1d" or "cron 30 2 * * * (UTC)". */
export function describePingSchedule(schedule: Record<string, unknown>): string {
  if (typeof schedule["every"] === "string") return `every ${shortenIsoDuration(schedule["every"])}`;
  const zone = typeof schedule["timezone"] === "string" ? ` (${schedule["timezone"]})` : "";
  return `cron ${String(schedule["cron"])}${zone}`;
}

/** The request for a new ping; a text with a space is a cron expression. */
export function pingOf({ name, schedule, grace }: { name: string; schedule: string; grace: string }): PingDraft {
  const when = schedule.trim();
  return { name: name.trim(), ...(when.includes(" ") ? { cron: when } : { every: when }), ...(grace.trim() ? { grace: grace.trim() } : {}) };
}
