// What an entry of a job's history says. Pure.
import type { JobChangeView } from "../../api/schema.gen.ts";

/** Of entries other than updates: what they say, in a line. */
export function saidBy(entry: Pick<JobChangeView, "details">): string {
  return Object.entries(entry.details)
    .filter(([, value]) => value !== null && value !== undefined)
    .map(([name, value]) => `${name.replaceAll("_", " ")}: ${typeof value === "string" ? value : JSON.stringify(value)}`)
    .join(", ");
}
