// An error response of the API as an exception with a readable sentence.
import type { ProblemField, Problem } from "./schema.gen.ts";

/** `code` is stable; `errors` points into the request body. Status 0: no response. */
export class ProblemError extends Error {
  readonly status: number;
  readonly code: string;
  readonly title: string;
  readonly errors: readonly ProblemField[];
  readonly requestId: string | null;
  readonly retryAfter: number | null;

  constructor(problem: Partial<Problem> & { detail: string }, retryAfter: number | null = null) {
    super(problem.detail);
    this.name = "ProblemError";
    this.status = problem.status ?? 0;
    this.code = problem.code ?? "no_answer";
    this.title = problem.title ?? "No response";
    this.errors = problem.errors ?? [];
    this.requestId = problem.request_id ?? null;
    this.retryAfter = retryAfter;
  }

  /** The error of one field of the request body, by its JSON pointer. */
  errorAt(pointer: string): string | null {
    return this.errors.find((error) => error.pointer === pointer)?.detail ?? null;
  }
}

export async function readProblem(response: Response): Promise<ProblemError> {
  const retry = Number(response.headers.get("retry-after"));
  const after = Number.isFinite(retry) && retry > 0 ? retry : null;
  try {
    const problem = (await response.json()) as Problem;
    if (typeof problem.detail === "string") return new ProblemError(problem, after);
  } catch {
    // Not a response of the API: a proxy in front of it responded.
  }
  const detail = `the server responded with status ${response.status} and no details`;
  return new ProblemError({ status: response.status, code: "unknown", title: "Request failed", detail }, after);
}
