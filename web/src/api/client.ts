// The one way to the API: typed by the catalogue, with a session's cookie and its CSRF token, a
// time limit on every request, and errors that are sentences.
import { filled } from "../lib/url.ts";
import { idleHeaders } from "./activity.ts";
import { ProblemError, problemOf } from "./problem.ts";
import type { Operations } from "./schema.gen.ts";
import { csrfToken, ended } from "./session.ts";

export type Operation = keyof Operations;
export type Answer<O extends Operation> = Operations[O]["answer"];
export type Body<O extends Operation> = Operations[O]["body"];
export type Query<O extends Operation> = Operations[O]["query"];

type Part<Name extends string, T> = keyof T extends never ? { [N in Name]?: undefined } : { [N in Name]: T };
type Optional<Name extends string, T> = keyof T extends never ? { [N in Name]?: undefined } : { [N in Name]?: T };
type Given<T> = [T] extends [undefined] ? { body?: undefined } : undefined extends T ? { body?: T } : { body: T };

/** What an operation is called with: its path's places, its query and its body, as it has them. */
export type Call<O extends Operation> = Part<"path", Operations[O]["path"]> &
  Optional<"query", Operations[O]["query"]> &
  Given<Operations[O]["body"]>;

export interface Manner {
  signal?: AbortSignal | undefined;
  headers?: Record<string, string>;
}

/** Nothing waits for longer than this. */
export const PATIENCE = 15_000;

export async function ask<O extends Operation>(operation: O, call: Call<O>, manner: Manner = {}): Promise<Answer<O>> {
  const response = await send(operation, call as Plain, manner);
  if (response.status === 204) return undefined as Answer<O>;
  return (await response.json()) as Answer<O>;
}

interface Plain {
  path?: Record<string, string>;
  query?: Record<string, unknown>;
  body?: unknown;
}

async function send(operation: string, call: Plain, manner: Manner): Promise<Response> {
  const [method = "GET", path = ""] = operation.split(" ");
  const headers: Record<string, string> = { Accept: "application/json", ...manner.headers };
  if (method !== "GET") headers["X-CSRF-Token"] = csrfToken();
  if (call.body !== undefined) headers["Content-Type"] = "application/json";
  const response = await fetched(`/ui${filled(path, call.path ?? {})}${question(call.query ?? {})}`, {
    method,
    headers,
    body: call.body === undefined ? null : JSON.stringify(call.body),
    signal: manner.signal ? AbortSignal.any([manner.signal, AbortSignal.timeout(PATIENCE)]) : AbortSignal.timeout(PATIENCE),
  });
  if (response.ok) return response;
  const problem = await problemOf(response);
  if (response.status === 401) ended();
  throw problem;
}

/** `fetch`, with errors that say what is the matter. */
export async function fetched(url: string, init: RequestInit): Promise<Response> {
  try {
    const headers = { ...(init.headers as Record<string, string> | undefined), ...idleHeaders() };
    return await fetch(url, { credentials: "same-origin", cache: "no-store", ...init, headers });
  } catch (caught) {
    const name = caught instanceof DOMException ? caught.name : "";
    if (name === "AbortError") throw caught;
    const detail =
      name === "TimeoutError"
        ? `the API did not answer within ${PATIENCE / 1000} seconds`
        : "the API cannot be reached; is rota running?";
    throw new ProblemError({ detail });
  }
}

/** A query as text; a list says its name for each value. */
export function question(query: Record<string, unknown>): string {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    for (const each of Array.isArray(value) ? (value as unknown[]) : [value]) {
      if (each !== undefined && each !== null && each !== "") params.append(name, String(each));
    }
  }
  const text = params.toString();
  return text ? `?${text}` : "";
}
