// Asking what a schedule means; it is a question, so it is cached like one.
import { type UseQueryResult, keepPreviousData, useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { ask } from "../../api/client.ts";
import { ProblemError } from "../../api/problem.ts";
import type { PreviewView } from "../../api/schema.gen.ts";
import { ZONE } from "../../ui/Time.tsx";

export function usePreview(schedule: Record<string, unknown> | null, count: number): UseQueryResult<PreviewView> {
  return useQuery({
    queryKey: ["POST /v1/schedules/preview", schedule, count],
    queryFn: ({ signal }) => ask("POST /v1/schedules/preview", { body: { schedule: schedule ?? {}, count, viewer: ZONE } }, { signal }),
    enabled: schedule !== null,
    placeholderData: keepPreviousData,
    // Its first time passes.
    refetchInterval: 60_000,
  });
}

export interface Live {
  isAsked: boolean;
  found: PreviewView | undefined;
  /** What is wrong with the schedule, in words. */
  error: string | null;
}

/** The same for what somebody types: asked after a short rest. Null asks nothing. */
export function useLivePreview(schedule: Record<string, unknown> | null): Live {
  const text = JSON.stringify(schedule);
  const [settled, setSettled] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), 200);
    return () => clearTimeout(timer);
  }, [text]);
  const asked = usePreview(JSON.parse(settled) as Record<string, unknown> | null, 5);
  const isCurrent = settled === text && !asked.isFetching;
  return { isAsked: schedule !== null, found: asked.data, error: isCurrent && asked.error ? told(asked.error) : null };
}

function told(error: Error): string {
  const [first] = error instanceof ProblemError ? error.errors : [];
  return first?.detail ?? error.message;
}
