// Converts the fields of a new rule to the request. Pure.
import type { RuleCondition, RuleDraft } from "../../api/schema.gen.ts";
import { type MatchTexts, NO_MATCH, matchOfFields } from "./model.ts";

export interface RuleFields extends MatchTexts {
  name: string;
  condition: string;
  /** The limit of the condition as a text: a number, a duration, a share or a time of day. */
  limit: string;
  severity: "info" | "warning" | "page";
  to: string;
  holdFor: string;
}

interface ConditionChoice {
  value: string;
  label: string;
  example: string;
  hint: string;
  /** The condition for a limit. */
  when: (limit: string) => RuleCondition;
}

/** A number, or the text if it is none: then the API says what is wrong with it. */
const toNumber = (text: string): number => (/^\d+$/.test(text) ? Number(text) : (text as unknown as number));

export const CONDITIONS: readonly [ConditionChoice, ...ConditionChoice[]] = [
  { value: "streak", label: "Failures in a row", example: "3", hint: "A number of runs.", when: (limit) => ({ failures: { streak: toNumber(limit) } }) },
  { value: "rate", label: "Share of failures in an hour", example: "10%", hint: "A percentage; judged from 20 runs on.", when: (limit) => ({ failures: { rate: limit } }) },
  { value: "dead_letters", label: "Dead letters with the same error", example: "1", hint: "A number within an hour.", when: (limit) => ({ dead_letters: toNumber(limit) }) },
  { value: "missed_ticks", label: "Missed ticks in a row", example: "1", hint: "A number of ticks.", when: (limit) => ({ missed_ticks: toNumber(limit) }) },
  { value: "start_within", label: "Start within", example: "5m", hint: "A duration after the tick.", when: (limit) => ({ start_within: limit }) },
  { value: "finish_by", label: "Finish by", example: "06:00", hint: "A time of day, or a duration after the tick such as +3h30m.", when: (limit) => ({ finish_by: limit }) },
  { value: "succeed_every", label: "Succeed every", example: "26h", hint: "A duration.", when: (limit) => ({ succeed_every: limit }) },
  { value: "max_duration", label: "Maximum duration", example: "40m", hint: "A duration.", when: (limit) => ({ max_duration: limit }) },
  { value: "no_worker", label: "Runs without a worker", example: "2m", hint: "How long runs may wait for a worker of their queue.", when: (limit) => ({ no_worker: limit }) },
  { value: "oldest_wait", label: "Longest wait in a queue", example: "10m", hint: "A duration.", when: (limit) => ({ oldest_wait: limit }) },
];

export const NO_RULE: RuleFields = { ...NO_MATCH, name: "", condition: "streak", limit: "3", severity: "warning", to: "", holdFor: "" };

export function ruleOf(fields: RuleFields): RuleDraft {
  const chosen = CONDITIONS.find(({ value }) => value === fields.condition) ?? CONDITIONS[0];
  return {
    name: fields.name.trim(),
    when: chosen.when(fields.limit.trim()),
    match: matchOfFields(fields),
    severity: fields.severity,
    ...(fields.to.trim() ? { to: fields.to.trim() } : {}),
    ...(fields.holdFor.trim() ? { for: fields.holdFor.trim() } : {}),
  };
}
