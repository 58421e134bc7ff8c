// Computes what the pages of webhooks show. Pure.
import type { DeliveryView, WebhookFilter, WebhookView } from "../../api/schema.gen.ts";
import { formatTime } from "../../lib/time.ts";
import type { Outcome } from "../../ui/OutcomeStrip.tsx";

export const DELIVERY_STATES = ["", "pending", "held", "delivered", "failed", "dropped"] as const;

/** The health of an endpoint, as a status. */
export function healthOf(webhook: Pick<WebhookView, "state" | "failures">): string {
  if (webhook.state === "disabled") return "disabled";
  return webhook.failures > 0 ? "failing" : "enabled";
}

const DISABLED_REASONS: Record<string, string> = {
  manual: "Disabled by a user.",
  gone: "Disabled because it answered 410 Gone.",
  failing: "Disabled after days without a successful delivery.",
};

export function describeDisabled(reason: string | null): string {
  return DISABLED_REASONS[reason ?? ""] ?? "Disabled.";
}

/** What an endpoint subscribed to, in words: "run.failed, incident.* · job nightly*". */
export function describeSubscription(events: readonly string[], filter: WebhookFilter): string {
  const parts = (["job", "task", "queue", "severity"] as const).flatMap((name) => (filter[name] ? [`${name} ${filter[name]}`] : []));
  const labels = Object.entries(filter.labels ?? {}).map(([key, value]) => `label ${key}:${value}`);
  return [events.join(", "), ...parts, ...labels].join(" · ");
}

/** Deliveries as a strip, oldest first. */
export function toOutcomes(deliveries: readonly DeliveryView[], zone: string, hrefOf: (delivery: DeliveryView) => string): Outcome[] {
  return [...deliveries].reverse().map((delivery) => ({
    id: delivery.delivery_id,
    state: delivery.state,
    description: `${formatTime(delivery.created_at, zone)} ${delivery.type}: ${delivery.state}${answerOf(delivery)}`,
    href: hrefOf(delivery),
  }));
}

/** The last answer of an endpoint, for the end of a sentence: ", HTTP 503". */
export function answerOf(delivery: Pick<DeliveryView, "status" | "error">): string {
  if (delivery.status !== null) return `, HTTP ${delivery.status}`;
  return delivery.error ? `, ${delivery.error}` : "";
}

/** "3 delivered, 1 failed": in the order of the states. */
export function summarizeDeliveries(deliveries: readonly DeliveryView[]): string {
  return ["delivered", "sending", "pending", "held", "failed", "dropped"]
    .map((state) => [state, deliveries.filter((delivery) => delivery.state === state).length] as const)
    .filter(([, number]) => number > 0)
    .map(([state, number]) => `${number} ${state}`)
    .join(", ");
}

/** The event types of a text: separated by commas or spaces. */
export function splitEvents(text: string): string[] {
  return text.split(/[\s,]+/).filter((part) => part !== "");
}
