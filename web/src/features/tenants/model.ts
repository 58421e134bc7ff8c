// Parses and formats the quotas of a tenant. Pure.
import type { QuotasDraft } from "../../api/schema.gen.ts";

export const QUOTAS = [
  { name: "max_jobs", label: "Jobs", hint: "Unfinished jobs. Default: 1,000,000.", max: 100_000_000 },
  { name: "max_queued", label: "Waiting runs", hint: "Runs waiting for a worker. Default: 5,000,000.", max: 100_000_000 },
  { name: "max_running", label: "Concurrent runs", hint: "Runs that run at the same time. Default: no limit.", max: 10_000 },
  { name: "runs_per_s", label: "Starts per second", hint: "Run starts per second. Default: no limit.", max: 1_000_000 },
  { name: "min_period", label: "Shortest period", hint: "Minimum time between two ticks of a job, for example 10s. Default: no limit.", max: null },
  { name: "max_queues", label: "Queue names", hint: "Distinct queue names. Default: 10,000.", max: 1_000_000 },
  { name: "max_kinds", label: "Kind names", hint: "Distinct kind names. Default: 100,000.", max: 1_000_000 },
  { name: "max_limit_keys", label: "Limit keys", hint: "Distinct limit keys. Default: 1,000,000.", max: 100_000_000 },
  { name: "max_hooks", label: "Hooks", hint: "Default: 1,000.", max: 100_000 },
  { name: "max_calendars", label: "Calendars", hint: "Default: 100.", max: 100_000 },
  { name: "max_secrets", label: "Secrets", hint: "Default: 200.", max: 100_000 },
  { name: "max_keys", label: "API keys", hint: "Valid API keys. Default: 100.", max: 100_000 },
] as const;

/** The text that removes a quota; null in the API. */
const NO_LIMIT = "none";

export type QuotaName = (typeof QUOTAS)[number]["name"];

export function textsOf(quotas: Record<string, unknown>): Record<QuotaName, string> {
  const texts = QUOTAS.map(({ name }) => [name, quotas[name] === undefined ? "" : String(quotas[name] ?? NO_LIMIT)]);
  return Object.fromEntries(texts) as Record<QuotaName, string>;
}

/** Parses the quotas; on failure, the errors by field. */
export function quotasOf(texts: Record<QuotaName, string>): { quotas: QuotasDraft | null; errors: Partial<Record<QuotaName, string>> } {
  const quotas: Record<string, unknown> = {};
  const errors: Partial<Record<QuotaName, string>> = {};
  for (const { name, max } of QUOTAS) {
    const text = texts[name].trim();
    if (text === "") continue;
    if (text === NO_LIMIT) {
      quotas[name] = null;
      continue;
    }
    const value = Number(text);
    if (max === null) quotas[name] = text;
    else if (Number.isInteger(value) && value >= 1 && value <= max) quotas[name] = value;
    else errors[name] = `Must be a whole number from 1 to ${max}, none, or empty.`;
  }
  return { quotas: Object.keys(errors).length > 0 ? null : (quotas as QuotasDraft), errors };
}

/** "jobs 100, concurrent runs 20": the quotas in one line. */
export function quotasText(quotas: Record<string, unknown>): string {
  return QUOTAS.filter(({ name }) => quotas[name] !== undefined)
    .map(({ name, label }) => `${label.toLowerCase()} ${String(quotas[name] ?? "unlimited")}`)
    .join(", ");
}
