// Sends the action of a problem: a request that the API describes by method, path and body.
import { sendRequest } from "./client.ts";
import type { BulkActionResult, ProblemActionView } from "./schema.gen.ts";

/** Sends an action. Its path is one of the API, whatever a name in it contains. */
export async function sendAction(action: ProblemActionView, more: Record<string, unknown> = {}): Promise<unknown> {
  const body = action.body === null && Object.keys(more).length === 0 ? undefined : { ...action.body, ...more };
  const response = await sendRequest(action.method, action.path, { body });
  return response.status === 204 ? undefined : ((await response.json()) as unknown);
}

/** Counts what a bulk action would change; the token is for `runBulkAction`. */
export async function countBulkAction(action: ProblemActionView): Promise<BulkActionResult> {
  return (await sendAction(action, { dry_run: true })) as BulkActionResult;
}

/** Runs a bulk action until nothing is left. Returns how many it changed. */
export async function runBulkAction(action: ProblemActionView, first: string): Promise<number> {
  let token: string | null = first;
  let done = 0;
  while (token !== null) {
    const answer = (await sendAction(action, { token })) as BulkActionResult;
    done += answer.done;
    token = answer.token;
  }
  return done;
}
