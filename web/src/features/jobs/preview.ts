// Loads the preview of a schedule, with a cache.
import { type UseQueryResult, keepPreviousData, useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { callApi } from "../../api/client.ts";
import { ProblemError } from "../../api/problem.ts";
import type { PreviewView } from "../../api/schema.gen.ts";
import { ZONE } from "../../ui/Time.tsx";

export function usePreview(schedule: Record<string, unknown> | null, count: number): UseQueryResult<PreviewView> {
  return useQuery({
    queryKey: ["POST /v1/schedules/preview", schedule, count],
    queryFn: ({ signal }) => callApi("POST /v1/schedules/preview", { body: { schedule: schedule ?? {}, count, viewer: ZONE } }, { signal }),
    enabled: schedule !== null,
    placeholderData: keepPreviousData,
    // The first of the next runs passes.
    refetchInterval: 60_000,
  });
}

export interface LivePreviewState {
  isActive: boolean;
  preview: PreviewView | undefined;
  /** Why the schedule is invalid. */
  error: string | null;
}

/** Like `usePreview`, for a schedule being typed: waits for a short pause. Null sends no request. */
export function useLivePreview(schedule: Record<string, unknown> | null): LivePreviewState {
  const text = JSON.stringify(schedule);
  const [settled, setSettled] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), 200);
    return () => clearTimeout(timer);
  }, [text]);
  const preview = usePreview(JSON.parse(settled) as Record<string, unknown> | null, 5);
  const isCurrent = settled === text && !preview.isFetching;
  return { isActive: schedule !== null, preview: preview.data, error: isCurrent && preview.error ? errorText(preview.error) : null };
}

function errorText(error: Error): string {
  const [first] = error instanceof ProblemError ? error.errors : [];
  return first?.detail ?? error.message;
}
