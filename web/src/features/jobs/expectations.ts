// Describes the expectations of a job. Pure.
import type { JobExpectationView } from "../../api/schema.gen.ts";
import { shortenIsoDuration } from "../../lib/time.ts";
import { fieldLabel } from "../../lib/words.ts";

const STATE_ORDER = ["firing", "pending", "unknown", "ok"];

/** Violated expectations first, defaults last. */
export function sortExpectations(expectations: readonly JobExpectationView[]): JobExpectationView[] {
  const rank = (each: JobExpectationView) => STATE_ORDER.indexOf(each.state) * 10 + ["job", "rule", "default"].indexOf(each.origin);
  return [...expectations].sort((one, other) => rank(one) - rank(other));
}

/** "Finish by 06:00", "Failures: streak 3". */
export function describeExpectation({ condition, when }: Pick<JobExpectationView, "condition" | "when">): string {
  const entries = Object.entries(when);
  const [name, value] = entries[0] ?? [condition, null];
  if (value === null || value === true) return fieldLabel(name);
  if (typeof value !== "object") return `${fieldLabel(name)} ${describePart(value)}`;
  const parts = Object.entries(value as Record<string, unknown>).map(([part, inner]) => `${part.replaceAll("_", " ")} ${describePart(inner)}`);
  return `${fieldLabel(name)}: ${parts.join(", ")}`;
}

function describePart(value: unknown): string {
  return typeof value === "string" ? shortenIsoDuration(value) : String(value);
}
