// Formats entries of the audit log. Pure.
import type { AuditView } from "../../api/schema.gen.ts";

export const RESOURCES = ["job", "run", "key", "secret", "calendar", "queue", "worker", "incident", "silence", "expectation", "route", "channel", "webhook", "delivery", "ping", "tenant", "user", "audit"] as const;

export const SPANS = [
  { value: "", label: "Any time" },
  { value: "hour", label: "Last hour" },
  { value: "day", label: "Last day" },
  { value: "week", label: "Last week" },
] as const;

const HOURS: Record<string, number> = { hour: 1, day: 24, week: 168 };

/** Rounded to the minute, so that the query stays the same for a while. */
export function sinceOf(span: string | null, now: number): string | null {
  const hours = HOURS[span ?? ""];
  if (hours === undefined) return null;
  return new Date(Math.floor(now / 60_000) * 60_000 - hours * 3_600_000).toISOString();
}

/** The start of an id, enough to tell ids on a page apart. */
export function shortenId(id: string): string {
  return id.length > 20 ? `${id.slice(0, 16)}…` : id;
}

/** The resource of an entry, with a link if it has a page. */
export function resourceOf(entry: Pick<AuditView, "thing" | "thing_id">): { text: string; href: string | null } {
  const { thing, thing_id: id } = entry;
  if (/^job_[0-9a-f]{32}$/.test(id)) return { text: id, href: `/jobs/${id}` };
  if (/^run_[0-9a-f]{32}$/.test(id)) return { text: id, href: `/runs/${id}` };
  if (/^inc_[0-9a-f]{32}$/.test(id)) return { text: id, href: `/alerts/${id}` };
  if (/^whe_[0-9a-f]{32}$/.test(id)) return { text: id, href: `/webhooks/${id}` };
  return { text: `${thing} ${id}`, href: null };
}
