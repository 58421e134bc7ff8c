// The latest runs of several jobs, for lists: one question for fifty jobs.
import { useQueries } from "@tanstack/react-query";
import { useMemo } from "react";
import { ask } from "./client.ts";
import type { OutcomeView } from "./schema.gen.ts";

/** So many jobs does the API answer at once. */
const AT_ONCE = 50;

export type Recent = ReadonlyMap<string, readonly OutcomeView[]>;

/** By job, newest first; a job whose runs are not there yet is missing. */
export function useRecent(jobIds: readonly string[]): Recent {
  const parts = useMemo(() => chunks(jobIds), [jobIds]);
  const results = useQueries({
    queries: parts.map((part) => ({
      queryKey: ["GET /v1/jobs/outcomes", part],
      queryFn: ({ signal }: { signal: AbortSignal }) => ask("GET /v1/jobs/outcomes", { query: { job_id: part } }, { signal }),
      refetchInterval: 5_000,
    })),
  });
  const stamp = results.map((each) => each.dataUpdatedAt).join();
  // eslint-disable-next-line react-hooks/exhaustive-deps -- the results are new objects each time
  return useMemo(() => new Map(results.flatMap(({ data }) => data?.data.map((job) => [job.job_id, job.runs] as const) ?? [])), [stamp]);
}

function chunks(ids: readonly string[]): string[][] {
  return Array.from({ length: Math.ceil(ids.length / AT_ONCE) }, (_, index) => ids.slice(index * AT_ONCE, (index + 1) * AT_ONCE));
}
