import { afterEach, expect, test, vi } from "vitest";
import { idleHeaders, noteTouch, watchTouches } from "./activity.ts";
import { ask, question } from "./client.ts";
import { eventOf } from "./live.ts";
import { ProblemError, problemOf } from "./problem.ts";
import { parsed, readStream } from "./stream.ts";

afterEach(() => vi.unstubAllGlobals());

test("a list says its name for each value, and what is empty is not asked", () => {
  expect(question({ status: ["dead", "lost"], q: "", limit: 50, cursor: undefined })).toBe("?status=dead&status=lost&limit=50");
  expect(question({})).toBe("");
});

test("requests of a page that nobody touches do not keep its login", async () => {
  const sent: unknown[] = [];
  vi.stubGlobal("fetch", async (_url: string, init: RequestInit) => {
    sent.push((init.headers as Record<string, string>)["X-User-Idle"]);
    return new Response("{}");
  });
  const page = new EventTarget();
  watchTouches(page);
  noteTouch(Date.now() - 61_000);
  await ask("GET /v1/whoami", {});
  page.dispatchEvent(new Event("keydown"));
  await ask("GET /v1/whoami", {});
  expect(sent).toEqual(["1", undefined]);
  expect(idleHeaders(Date.now() + 61_000)).toEqual({ "X-User-Idle": "1" });
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

test("a burst of events is told in order and whole, and others get their turn meanwhile", async () => {
  const burst = Array.from({ length: 1_000 }, (_, index) => `id: ${index}\nevent: run.ended\ndata: {}\n\n`).join("");
  vi.stubGlobal("fetch", async () => new Response(burst));
  const told: string[] = [];
  const turns: number[] = [];
  const others = setInterval(() => turns.push(told.length));
  const work = (id: string) => {
    told.push(id);
    if (told.length % 100 === 0) for (const end = performance.now() + 3; performance.now() < end; );
  };
  await readStream("http://rota/ui/v1/feed", { signal: new AbortController().signal, tell: ({ id }) => work(id) });
  clearInterval(others);
  expect(told).toEqual(Array.from({ length: 1_000 }, (_, index) => String(index)));
  expect(turns.length).toBeGreaterThan(2);
});
