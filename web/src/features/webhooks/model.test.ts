import { expect, test } from "vitest";
import type { DeliveryView } from "../../api/schema.gen.ts";
import { answerOf, describeSubscription, healthOf, splitEvents, summarizeDeliveries, toOutcomes } from "./model.ts";

const delivery = (given: Partial<DeliveryView>): DeliveryView => ({ delivery_id: "dlv_1", event_id: "e", type: "run.failed", state: "delivered", attempts: 1, next_attempt_at: null, created_at: "2026-11-18T10:00:00Z", finished_at: null, status: 200, error: null, ...given });

test("an endpoint is failing from its first failure, and disabled before that", () => {
  expect(healthOf({ state: "enabled", failures: 0 })).toBe("enabled");
  expect(healthOf({ state: "enabled", failures: 2 })).toBe("failing");
  expect(healthOf({ state: "disabled", failures: 2 })).toBe("disabled");
});

test("a subscription is described by its events and its filter", () => {
  expect(describeSubscription(["run.failed", "incident.*"], { job: "nightly*", labels: { team: "billing" } })).toBe("run.failed, incident.* · job nightly* · label team:billing");
});

test("deliveries are shown oldest first, with their last answer", () => {
  const outcomes = toOutcomes([delivery({ delivery_id: "2", state: "failed", status: 503 }), delivery({ delivery_id: "1" })], "UTC", (each) => each.delivery_id);
  expect(outcomes.map((each) => each.id)).toEqual(["1", "2"]);
  expect(outcomes[1]?.description).toBe("2026-11-18 10:00:00 run.failed: failed, HTTP 503");
});

test("an answer is a status, an error or nothing", () => {
  expect(answerOf({ status: 410, error: null })).toBe(", HTTP 410");
  expect(answerOf({ status: null, error: "connection refused" })).toBe(", connection refused");
  expect(answerOf({ status: null, error: null })).toBe("");
});

test("deliveries are counted by state, events are split at commas and spaces", () => {
  expect(summarizeDeliveries([delivery({}), delivery({ state: "failed" }), delivery({})])).toBe("2 delivered, 1 failed");
  expect(splitEvents(" run.failed,  incident.* ")).toEqual(["run.failed", "incident.*"]);
});
