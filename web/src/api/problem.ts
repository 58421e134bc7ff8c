// What the API refuses, as an error with a sentence for people.
import type { FieldError, Problem } from "./schema.gen.ts";

/** `code` is stable; `errors` points into what was sent. Status 0: there was no answer. */
export class ProblemError extends Error {
  readonly status: number;
  readonly code: string;
  readonly title: string;
  readonly errors: readonly FieldError[];
  readonly requestId: string | null;
  readonly retryAfter: number | null;

  constructor(problem: Partial<Problem> & { detail: string }, retryAfter: number | null = null) {
    super(problem.detail);
    this.name = "ProblemError";
    this.status = problem.status ?? 0;
    this.code = problem.code ?? "no_answer";
    this.title = problem.title ?? "There was no answer";
    this.errors = problem.errors ?? [];
    this.requestId = problem.request_id ?? null;
    this.retryAfter = retryAfter;
  }

  /** What is wrong with one field of what was sent, by its JSON pointer. */
  of(pointer: string): string | null {
    return this.errors.find((each) => each.pointer === pointer)?.detail ?? null;
  }
}

export async function problemOf(response: Response): Promise<ProblemError> {
  const retry = Number(response.headers.get("retry-after"));
  const after = Number.isFinite(retry) && retry > 0 ? retry : null;
  try {
    const told = (await response.json()) as Problem;
    if (typeof told.detail === "string") return new ProblemError(told, after);
  } catch {
    // Not ours: a proxy between us and the API.
  }
  const detail = `the server answered ${response.status} without saying why`;
  return new ProblemError({ status: response.status, code: "unknown", title: "Refused", detail }, after);
}
