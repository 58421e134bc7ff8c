// Checks whether the server can reach its database. Not in the operation catalogue, because it needs no key.
import { type UseQueryResult, useQuery } from "@tanstack/react-query";
import { REQUEST_TIMEOUT_MS, fetchOrThrow } from "./client.ts";
import { readProblem } from "./problem.ts";

/** The response time in milliseconds. */
export function useDatabaseLatency(): UseQueryResult<number> {
  return useQuery({
    queryKey: ["readyz"],
    queryFn: async () => {
      const start = performance.now();
      const response = await fetchOrThrow("/readyz", { signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS) });
      if (!response.ok) throw await readProblem(response);
      return performance.now() - start;
    },
    refetchInterval: 10_000,
    retry: false,
  });
}
