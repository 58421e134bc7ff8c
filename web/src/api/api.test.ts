import { afterEach, expect, test, vi } from "vitest";
import { idleHeaders, recordActivity, watchActivity } from "./activity.ts";
import { callApi, encodeQuery } from "./client.ts";
import { parseLiveEvent } from "./live.ts";
import { ProblemError, readProblem } from "./problem.ts";
import { parseStreamEvent, readStream } from "./stream.ts";

afterEach(() => vi.unstubAllGlobals());

test("a list repeats its name for each value, and empty values are not sent", () => {
  expect(encodeQuery({ status: ["dead", "lost"], q: "", limit: 50, cursor: undefined })).toBe("?status=dead&status=lost&limit=50");
  expect(encodeQuery({})).toBe("");
});

test("requests of an idle page do not extend its login", async () => {
  const sent: unknown[] = [];
  vi.stubGlobal("fetch", async (_url: string, init: RequestInit) => {
    sent.push((init.headers as Record<string, string>)["X-User-Idle"]);
    return new Response("{}");
  });
  const page = new EventTarget();
  watchActivity(page);
  recordActivity(Date.now() - 61_000);
  await callApi("GET /v1/whoami", {});
  page.dispatchEvent(new Event("keydown"));
  await callApi("GET /v1/whoami", {});
  expect(sent).toEqual(["1", undefined]);
  expect(idleHeaders(Date.now() + 61_000)).toEqual({ "X-User-Idle": "1" });
});

test("a problem is a sentence with the invalid fields", async () => {
  const body = { type: "/problems/invalid_schedule", title: "Invalid schedule", status: 422, detail: "no", code: "invalid_schedule", request_id: "req_1", instance: "/", errors: [{ pointer: "/schedule/cron", code: "x", detail: "five fields" }] };
  const problem = await readProblem(new Response(JSON.stringify(body), { status: 422, headers: { "retry-after": "3" } }));
  expect(problem.errorAt("/schedule/cron")).toBe("five fields");
  expect(problem.errorAt("/name")).toBeNull();
  expect(problem.retryAfter).toBe(3);
});

test("a problem of a proxy in front of the API is a sentence, too", async () => {
  const problem = await readProblem(new Response("<h1>Bad gateway</h1>", { status: 502 }));
  expect(problem).toBeInstanceOf(ProblemError);
  expect(problem.message).toBe("the server responded with status 502 and no details");
});

test("events of a stream are parsed with their id, and comments are ignored", () => {
  expect(parseStreamEvent(": the feed begins")).toBeNull();
  const event = parseStreamEvent('id: 7.1\nevent: run.ended\ndata: {"type": "run.ended", "at": "x"}');
  expect(event && parseLiveEvent(event)).toEqual({ id: "7.1", type: "run.ended", at: "x" });
  expect(parseLiveEvent({ id: "1", event: "quiet", data: '{"type": "quiet", "at": "x"}' })).toBeNull();
  expect(parseLiveEvent({ id: "1", event: "run.ended", data: "{" })).toBeNull();
});

test("a burst of events is delivered completely and in order without blocking other work", async () => {
  const burst = Array.from({ length: 1_000 }, (_, index) => `id: ${index}\nevent: run.ended\ndata: {}\n\n`).join("");
  vi.stubGlobal("fetch", async () => new Response(burst));
  const delivered: string[] = [];
  const turns: number[] = [];
  const others = setInterval(() => turns.push(delivered.length));
  const work = (id: string) => {
    delivered.push(id);
    if (delivered.length % 100 === 0) for (const end = performance.now() + 3; performance.now() < end; );
  };
  await readStream("http://rota/ui/v1/feed", { signal: new AbortController().signal, onEvent: ({ id }) => work(id) });
  clearInterval(others);
  expect(delivered).toEqual(Array.from({ length: 1_000 }, (_, index) => String(index)));
  expect(turns.length).toBeGreaterThan(2);
});
