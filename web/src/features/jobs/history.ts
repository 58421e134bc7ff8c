// What an entry of the audit log says about a job. Pure.
import type { AuditView } from "../../api/schema.gen.ts";
import { isRecord } from "./model.ts";
import { isSame } from "./schedules.ts";

export interface Change {
  field: string;
  before: unknown;
  after: unknown;
  /** Its values are not on record: payloads never are. */
  isUntold: boolean;
}

/** What an edit made different; none for other entries. */
export function changesOf(entry: Pick<AuditView, "before" | "after">): Change[] {
  const after = isRecord(entry.after) ? entry.after : {};
  const before = isRecord(entry.before) ? entry.before : {};
  const changed = Array.isArray(after["changed"]) ? after["changed"].filter((each) => typeof each === "string") : [];
  return changed.flatMap((field) => (field in after ? inner(field, before[field], after[field]) : [{ field, before: undefined, after: undefined, isUntold: true }]));
}

/** Of two objects only what differs inside: a schedule has twenty fields, and one was changed. */
function inner(field: string, before: unknown, after: unknown): Change[] {
  if (!isRecord(before) || !isRecord(after)) return [{ field, before, after, isUntold: false }];
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return names.filter((name) => !isSame(before[name], after[name])).flatMap((name) => inner(`${field}.${name}`, before[name], after[name]));
}

/** Of other entries: what they say, in a line. */
export function saidBy(entry: Pick<AuditView, "after">): string {
  if (!isRecord(entry.after)) return "";
  return Object.entries(entry.after)
    .filter(([, value]) => value !== null && value !== undefined)
    .map(([name, value]) => `${name.replaceAll("_", " ")}: ${typeof value === "string" ? value : JSON.stringify(value)}`)
    .join(", ");
}

/** Which version it made, if it says so. */
export function versionOf(entry: Pick<AuditView, "after">): number | null {
  const version = isRecord(entry.after) ? entry.after["version"] : null;
  return typeof version === "number" ? version : null;
}
