// Calls the API: typed by the operation catalogue, with the session's cookie and CSRF token, a time
// limit on every request, and errors that are sentences.
import { fillPath } from "../lib/url.ts";
import { idleHeaders } from "./activity.ts";
import { ProblemError, readProblem } from "./problem.ts";
import type { Operations } from "./schema.gen.ts";
import { csrfToken, endSession } from "./session.ts";

export type Operation = keyof Operations;
export type ApiResult<O extends Operation> = Operations[O]["answer"];
export type Body<O extends Operation> = Operations[O]["body"];
export type Query<O extends Operation> = Operations[O]["query"];

type RequiredPart<Name extends string, T> = keyof T extends never ? { [N in Name]?: undefined } : { [N in Name]: T };
type OptionalPart<Name extends string, T> = keyof T extends never ? { [N in Name]?: undefined } : { [N in Name]?: T };
type BodyPart<T> = [T] extends [undefined] ? { body?: undefined } : undefined extends T ? { body?: T } : { body: T };

/** The arguments of an operation: path parameters, query and body, as far as it has them. */
export type Call<O extends Operation> = RequiredPart<"path", Operations[O]["path"]> &
  OptionalPart<"query", Operations[O]["query"]> &
  BodyPart<Operations[O]["body"]>;

export interface RequestOptions {
  signal?: AbortSignal | undefined;
  headers?: Record<string, string>;
}

/** The timeout of every request, in milliseconds. */
export const REQUEST_TIMEOUT_MS = 15_000;

export async function callApi<O extends Operation>(operation: O, call: Call<O>, options: RequestOptions = {}): Promise<ApiResult<O>> {
  const response = await send(operation, call as PlainCall, options);
  if (response.status === 204) return undefined as ApiResult<O>;
  return (await response.json()) as ApiResult<O>;
}

interface PlainCall {
  path?: Record<string, string>;
  query?: Record<string, unknown>;
  body?: unknown;
}

async function send(operation: string, call: PlainCall, options: RequestOptions): Promise<Response> {
  const [method = "GET", path = ""] = operation.split(" ");
  return sendRequest(method, `${fillPath(path, call.path ?? {})}${encodeQuery(call.query ?? {})}`, { ...options, body: call.body });
}

/** Sends a request to a path of the API; throws what the API refuses. */
export async function sendRequest(method: string, path: string, options: RequestOptions & { body?: unknown }): Promise<Response> {
  const headers: Record<string, string> = { Accept: "application/json", ...options.headers };
  if (method !== "GET") headers["X-CSRF-Token"] = csrfToken();
  if (options.body !== undefined) headers["Content-Type"] = "application/json";
  const response = await fetchOrThrow(`/ui${path}`, {
    method,
    headers,
    body: options.body === undefined ? null : JSON.stringify(options.body),
    signal: options.signal ? AbortSignal.any([options.signal, AbortSignal.timeout(REQUEST_TIMEOUT_MS)]) : AbortSignal.timeout(REQUEST_TIMEOUT_MS),
  });
  if (response.ok) return response;
  const problem = await readProblem(response);
  if (response.status === 401) endSession();
  throw problem;
}

/** `fetch`, with errors that name the cause. */
export async function fetchOrThrow(url: string, init: RequestInit): Promise<Response> {
  try {
    const headers = { ...(init.headers as Record<string, string> | undefined), ...idleHeaders() };
    return await fetch(url, { credentials: "same-origin", cache: "no-store", ...init, headers });
  } catch (caught) {
    const name = caught instanceof DOMException ? caught.name : "";
    if (name === "AbortError") throw caught;
    const detail =
      name === "TimeoutError"
        ? `the API did not respond within ${REQUEST_TIMEOUT_MS / 1000} seconds`
        : "the API is unreachable; check that Rota is running";
    throw new ProblemError({ detail });
  }
}

/** Encodes a query; a list repeats its name for each value. */
export function encodeQuery(query: Record<string, unknown>): string {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    for (const item of Array.isArray(value) ? (value as unknown[]) : [value]) {
      if (item !== undefined && item !== null && item !== "") params.append(name, String(item));
    }
  }
  const text = params.toString();
  return text ? `?${text}` : "";
}
