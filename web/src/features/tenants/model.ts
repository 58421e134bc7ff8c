// Quotas of a tenant as people type and read them. Pure.
import type { QuotasDraft } from "../../api/schema.gen.ts";

export const QUOTAS = [
  { name: "max_jobs", label: "Jobs", hint: "Jobs that are not finished. Default: 1,000,000.", most: 100_000_000 },
  { name: "max_queued", label: "Waiting runs", hint: "Runs that wait. Default: 5,000,000.", most: 100_000_000 },
  { name: "max_running", label: "Running at a time", hint: "Runs at a time. Default: no limit.", most: 10_000 },
  { name: "runs_per_s", label: "Starts per second", hint: "Runs that start in a second. Default: no limit.", most: 1_000_000 },
  { name: "min_period", label: "Shortest period", hint: "Between two ticks of a job, as in 10s. Default: no limit.", most: null },
  { name: "max_queues", label: "Queue names", hint: "New queue names. Default: 10,000.", most: 1_000_000 },
  { name: "max_kinds", label: "Kind names", hint: "New kind names. Default: 100,000.", most: 1_000_000 },
  { name: "max_limit_keys", label: "Limit keys", hint: "Keys of limits. Default: 1,000,000.", most: 100_000_000 },
  { name: "max_hooks", label: "Hooks", hint: "Default: 1,000.", most: 100_000 },
  { name: "max_calendars", label: "Calendars", hint: "Default: 100.", most: 100_000 },
  { name: "max_secrets", label: "Secrets", hint: "Default: 200.", most: 100_000 },
  { name: "max_keys", label: "API keys", hint: "Valid ones. Default: 100.", most: 100_000 },
] as const;

/** What is typed to lift a quota; the API says null. */
const NO_LIMIT = "none";

export type QuotaName = (typeof QUOTAS)[number]["name"];

export function textsOf(quotas: Record<string, unknown>): Record<QuotaName, string> {
  const texts = QUOTAS.map(({ name }) => [name, quotas[name] === undefined ? "" : String(quotas[name] ?? NO_LIMIT)]);
  return Object.fromEntries(texts) as Record<QuotaName, string>;
}

/** What is typed as the API wants it, or what is wrong with it. */
export function quotasOf(texts: Record<QuotaName, string>): { quotas: QuotasDraft | null; errors: Partial<Record<QuotaName, string>> } {
  const quotas: Record<string, unknown> = {};
  const errors: Partial<Record<QuotaName, string>> = {};
  for (const { name, most } of QUOTAS) {
    const text = texts[name].trim();
    if (text === "") continue;
    if (text === NO_LIMIT) {
      quotas[name] = null;
      continue;
    }
    const value = Number(text);
    if (most === null) quotas[name] = text;
    else if (Number.isInteger(value) && value >= 1 && value <= most) quotas[name] = value;
    else errors[name] = `A whole number from 1 to ${most} is needed, none, or nothing.`;
  }
  return { quotas: Object.keys(errors).length > 0 ? null : (quotas as QuotasDraft), errors };
}

/** "100 jobs, 20 running": what is limited, in one line. */
export function quotasText(quotas: Record<string, unknown>): string {
  return QUOTAS.filter(({ name }) => quotas[name] !== undefined)
    .map(({ name, label }) => `${label.toLowerCase()} ${String(quotas[name] ?? "without limit")}`)
    .join(", ");
}
