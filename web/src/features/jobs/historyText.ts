// Describes an entry of a job's history. Pure.
import type { JobChangeView } from "../../api/schema.gen.ts";

/** The details of an entry other than an update, in one line. */
export function describeDetails(entry: Pick<JobChangeView, "details">): string {
  return Object.entries(entry.details)
    .filter(([, value]) => value !== null && value !== undefined)
    .map(([name, value]) => `${name.replaceAll("_", " ")}: ${typeof value === "string" ? value : JSON.stringify(value)}`)
    .join(", ");
}
