import { expect, test } from "vitest";
import { question } from "./client.ts";
import { eventOf } from "./live.ts";
import { ProblemError, problemOf } from "./problem.ts";
import { parsed } from "./stream.ts";

test("a list says its name for each value, and what is empty is not asked", () => {
  expect(question({ status: ["dead", "lost"], q: "", limit: 50, cursor: undefined })).toBe("?status=dead&status=lost&limit=50");
  expect(question({})).toBe("");
});

test("a refusal is a sentence with the fields that are wrong", async () => {
  const body = { type: "/problems/invalid_schedule", title: "The schedule is not accepted", status: 422, detail: "no", code: "invalid_schedule", request_id: "req_1", instance: "/", errors: [{ pointer: "/schedule/cron", code: "x", detail: "five fields" }] };
  const problem = await problemOf(new Response(JSON.stringify(body), { status: 422, headers: { "retry-after": "3" } }));
  expect(problem.of("/schedule/cron")).toBe("five fields");
  expect(problem.of("/name")).toBeNull();
  expect(problem.retryAfter).toBe(3);
});

test("a refusal of somebody between us and the API is a sentence, too", async () => {
  const problem = await problemOf(new Response("<h1>Bad gateway</h1>", { status: 502 }));
  expect(problem).toBeInstanceOf(ProblemError);
  expect(problem.message).toBe("the server answered 502 without saying why");
});

test("events of a stream are read with their id, and comments are nothing", () => {
  expect(parsed(": the feed begins")).toBeNull();
  const event = parsed('id: 7.1\nevent: run.ended\ndata: {"type": "run.ended", "at": "x"}');
  expect(event && eventOf(event)).toEqual({ id: "7.1", type: "run.ended", at: "x" });
  expect(eventOf({ id: "1", event: "quiet", data: '{"type": "quiet", "at": "x"}' })).toBeNull();
  expect(eventOf({ id: "1", event: "run.ended", data: "{" })).toBeNull();
});
