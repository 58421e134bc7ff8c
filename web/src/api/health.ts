// Whether the server can reach its database; not in the catalogue, because it asks for no key.
import { type UseQueryResult, useQuery } from "@tanstack/react-query";
import { PATIENCE, fetched } from "./client.ts";
import { problemOf } from "./problem.ts";

/** How long the answer took, in milliseconds. */
export function useReady(): UseQueryResult<number> {
  return useQuery({
    queryKey: ["readyz"],
    queryFn: async () => {
      const start = performance.now();
      const response = await fetched("/readyz", { signal: AbortSignal.timeout(PATIENCE) });
      if (!response.ok) throw await problemOf(response);
      return performance.now() - start;
    },
    refetchInterval: 10_000,
    retry: false,
  });
}
