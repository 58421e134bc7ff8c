// Parses and formats the limits of a queue. Pure.
import type { LimitsDraft, QueueView } from "../../api/schema.gen.ts";

export interface LimitsText {
  max: string;
  count: string;
  per: string;
  burst: string;
}

interface Rate {
  count: number;
  per: string;
  burst?: number | null;
}

function rateOf(queue: Pick<QueueView, "rate">): Rate | null {
  return queue.rate as unknown as Rate | null;
}

/** "100 per 1m", with the burst if it is set. */
export function rateText(queue: Pick<QueueView, "rate">): string | null {
  const rate = rateOf(queue);
  if (rate === null) return null;
  const burst = rate.burst && rate.burst > 1 ? `, burst ${rate.burst}` : "";
  return `${rate.count} per ${shortDuration(rate.per)}${burst}`;
}

/** An ISO 8601 duration in short form: PT1M becomes 1m. */
export function shortDuration(iso: string): string {
  const found = /^P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:([\d.]+)S)?)?$/.exec(iso);
  if (!found) return iso;
  const parts = ["d", "h", "m", "s"].map((unit, index) => (found[index + 1] ? `${found[index + 1]}${unit}` : ""));
  return parts.join("") || iso;
}

export function textOf(queue: Pick<QueueView, "max" | "rate">): LimitsText {
  const rate = rateOf(queue);
  return {
    max: queue.max === null ? "" : String(queue.max),
    count: rate ? String(rate.count) : "",
    per: rate ? shortDuration(rate.per) : "1m",
    burst: rate?.burst ? String(rate.burst) : "",
  };
}

type Errors = Partial<Record<keyof LimitsText, string>>;

/** Parses the limits; on failure, the errors by field. */
export function limitsOf(text: LimitsText): { limits: LimitsDraft | null; errors: Errors } {
  const errors: Errors = {};
  const max = number(text.max, 10_000, (error) => (errors.max = error));
  const count = number(text.count, 1_000_000, (error) => (errors.count = error));
  const burst = number(text.burst, 1_000_000, (error) => (errors.burst = error));
  if (count !== null && !/^\s*[\d.]+\s*(ms|s|m|h|d)\s*$/.test(text.per)) errors.per = "Must be a duration, for example 1m or 10s.";
  if (Object.keys(errors).length > 0) return { limits: null, errors };
  const rate = count === null ? null : { count, per: text.per.trim(), ...(burst === null ? {} : { burst }) };
  return { limits: { max, rate }, errors };
}

function number(text: string, max: number, report: (error: string) => void): number | null {
  if (text.trim() === "") return null;
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1 || value > max) {
    report(`Must be a whole number from 1 to ${max}, or empty.`);
    return null;
  }
  return value;
}
