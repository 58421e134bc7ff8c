import { expect, test } from "vitest";
import { NO_SILENCE, describeCondition, describeMatch, describePingSchedule, describeStep, endOfFields, matchOf, matchOfFields, pingOf } from "./model.ts";
import { NO_RULE, ruleOf } from "./rules.ts";

test("silences match the subject of an incident, if they can", () => {
  expect(matchOf({ kind: "job", id: "1", name: "nightly" })).toEqual({ job: "nightly" });
  expect(matchOf({ kind: "queue", id: "mail", name: "mail" })).toEqual({ queue: "mail" });
  expect(matchOf({ kind: "step", id: "1/load", name: "nightly/load" })).toEqual({ job: "nightly", step: "load" });
  expect(matchOf({ kind: "platform", id: "rota", name: "Rota" })).toBeNull();
});

test("silences send only the fields that are filled in", () => {
  expect(matchOfFields({ ...NO_SILENCE, job: " nightly* ", label: "team:billing:eu" })).toEqual({ job: "nightly*", labels: { team: "billing:eu" } });
  expect(matchOfFields(NO_SILENCE)).toEqual({});
});

test("silences end after a duration or at a time", () => {
  expect(endOfFields(NO_SILENCE, "UTC")).toEqual({ for: "1h" });
  expect(endOfFields({ ...NO_SILENCE, length: "until", until: "2026-11-18T12:00" }, "UTC")).toEqual({ ends_at: "2026-11-18T12:00:00Z" });
  expect(endOfFields({ ...NO_SILENCE, length: "until", until: "" }, "UTC")).toBeNull();
});

test("rules and routes are described in words", () => {
  expect(describeMatch({ job: "nightly*", labels: { team: "billing" } })).toBe("job nightly*, label team:billing");
  expect(describeMatch({})).toBe("every job");
  expect(describeCondition({ failures: { rate: 0.1, over: "PT1H", at_least: 20 } })).toBe("Failures: rate 0.1, over 1h, at least 20");
  expect(describeCondition({ succeed_every: "PT26H" })).toBe("Succeed every: 1d2h");
  expect(describeStep({ to: ["chat", "mail"], after: "PT30M", unless: "acknowledged" })).toBe("chat, mail; after 30m; unless acknowledged");
});

test("a new rule has one condition and only what is filled in", () => {
  expect(ruleOf({ ...NO_RULE, name: " nightly ", job: "nightly*" })).toEqual({ name: "nightly", when: { failures: { streak: 3 } }, match: { job: "nightly*" }, severity: "warning" });
  expect(ruleOf({ ...NO_RULE, name: "a", condition: "no_worker", limit: "2m", to: "chat", holdFor: "1m" })).toMatchObject({ when: { no_worker: "2m" }, to: "chat", for: "1m" });
  expect(ruleOf({ ...NO_RULE, name: "a", condition: "missed_ticks", limit: "many" }).when).toEqual({ missed_ticks: "many" });
});

test("a ping is expected every so often or by a cron expression", () => {
  expect(pingOf({ name: " backup ", schedule: "1d", grace: "" })).toEqual({ name: "backup", every: "1d" });
  expect(pingOf({ name: "backup", schedule: "30 2 * * *", grace: "1h" })).toEqual({ name: "backup", cron: "30 2 * * *", grace: "1h" });
  expect(describePingSchedule({ every: "P1D" })).toBe("every 1d");
  expect(describePingSchedule({ cron: "30 2 * * *", timezone: "UTC" })).toBe("cron 30 2 * * * (UTC)");
});
