// Reads the latest runs of several jobs for lists: one request for fifty jobs.
import { useQueries } from "@tanstack/react-query";
import { useMemo } from "react";
import { callApi } from "./client.ts";
import type { OutcomeView } from "./schema.gen.ts";

/** The API's limit of jobs per request. */
const JOBS_PER_REQUEST = 50;

export type RecentRuns = ReadonlyMap<string, readonly OutcomeView[]>;

/** Latest runs by job, newest first; a job whose runs are not loaded yet is missing. */
export function useRecentRuns(jobIds: readonly string[]): RecentRuns {
  const parts = useMemo(() => chunks(jobIds), [jobIds]);
  const results = useQueries({
    queries: parts.map((part) => ({
      queryKey: ["GET /v1/jobs/outcomes", part],
      queryFn: ({ signal }: { signal: AbortSignal }) => callApi("GET /v1/jobs/outcomes", { query: { job_id: part } }, { signal }),
      refetchInterval: 5_000,
    })),
  });
  const stamp = results.map((result) => result.dataUpdatedAt).join();
  // eslint-disable-next-line react-hooks/exhaustive-deps -- the results are new objects each time
  return useMemo(() => new Map(results.flatMap(({ data }) => data?.data.map((job) => [job.job_id, job.runs] as const) ?? [])), [stamp]);
}

function chunks(ids: readonly string[]): string[][] {
  return Array.from({ length: Math.ceil(ids.length / JOBS_PER_REQUEST) }, (_, index) => ids.slice(index * JOBS_PER_REQUEST, (index + 1) * JOBS_PER_REQUEST));
}
