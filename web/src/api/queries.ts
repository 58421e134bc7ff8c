// Hooks that read and change data through the API, with a cache.
//
//   const jobs = useApiQuery("GET /v1/jobs", { query: { q } }, { on: ["job.changed"] });
//   const pause = useApiMutation("POST /v1/jobs/{job_id}/pause", { invalidates: ["GET /v1/jobs"] });
//
// `on` names events of the live feed that trigger a refetch, at most once in two seconds; less often for
// a list of many pages, because all of them are refetched.
import {
  type InfiniteData,
  QueryClient,
  type UseInfiniteQueryResult,
  type UseMutationResult,
  type UseQueryResult,
  keepPreviousData,
  useInfiniteQuery,
  useMutation,
  useQuery,
  useQueryClient,
} from "@tanstack/react-query";
import { useEffect, useMemo, useRef } from "react";
import { type ApiResult, type Call, type Operation, callApi } from "./client.ts";
import { type EventType, type LiveEvent, useLive } from "./live.ts";
import { ProblemError } from "./problem.ts";

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 2_000,
      // A rejected request stays rejected; an unanswered one may succeed on the next attempt.
      retry: (times, error) => times < 2 && !(error instanceof ProblemError && error.status >= 400 && error.status < 500),
      retryDelay: (times) => 500 * 2 ** times,
      refetchOnWindowFocus: true,
    },
  },
});

/** The minimum time between two refetches because of events, in milliseconds. */
const REFETCH_MIN_MS = 2_000;

export interface QueryOptions {
  /** No request is sent while false. */
  enabled?: boolean;
  /** Refetch after these events of the live feed. */
  on?: readonly EventType[];
  /** Restricts `on` to matching events, for example those of one job. */
  where?: (event: LiveEvent) => boolean;
  /** Refetch interval in milliseconds. */
  every?: number;
  /** Keep showing the previous data while a changed query loads. */
  keepPrevious?: boolean;
  staleTime?: number;
}

export function queryKey<O extends Operation>(operation: O, call?: Call<O>): readonly unknown[] {
  return call === undefined ? [operation] : [operation, call];
}

export function useApiQuery<O extends Operation>(operation: O, call: Call<O>, options: QueryOptions = {}): UseQueryResult<ApiResult<O>> {
  const key = queryKey(operation, call);
  useRefetchOnEvents(key, options);
  return useQuery<ApiResult<O>>({
    queryKey: key,
    queryFn: ({ signal }) => callApi(operation, call, { signal }),
    enabled: options.enabled ?? true,
    ...(options.every === undefined ? {} : { refetchInterval: options.every }),
    ...(options.staleTime === undefined ? {} : { staleTime: options.staleTime }),
    ...(options.keepPrevious ? { placeholderData: keepPreviousData as never } : {}),
  });
}

/** Operations whose response is a page with a `next_cursor`. */
export type Paged = { [O in Operation]: ApiResult<O> extends { data: unknown[]; next_cursor: string | null } ? O : never }[Operation];
export type Row<O extends Paged> = ApiResult<O> extends { data: Array<infer R> } ? R : never;

export interface PagedRows<R> {
  rows: R[];
  /** The first page is still loading. */
  isPending: boolean;
  isFetching: boolean;
  error: Error | null;
  hasMore: boolean;
  loadMore: () => void;
  refetch: () => void;
}

/** Reads a list page by page. */
export function usePagedQuery<O extends Paged>(operation: O, call: Call<O>, options: QueryOptions = {}): PagedRows<Row<O>> {
  const key = ["pages", operation, call];
  type Page = { data: Row<O>[]; next_cursor: string | null };
  const found = useInfiniteQuery<Page, Error, InfiniteData<Page>, readonly unknown[], string | null>({
    queryKey: key,
    queryFn: async ({ pageParam, signal }) => {
      const plain = call as { query?: Record<string, unknown> };
      const query = pageParam === null ? plain.query : { ...plain.query, cursor: pageParam };
      return (await callApi(operation, { ...call, query } as Call<O>, { signal })) as unknown as Page;
    },
    initialPageParam: null,
    getNextPageParam: (last) => last.next_cursor,
    enabled: options.enabled ?? true,
    ...(options.every === undefined ? {} : { refetchInterval: options.every }),
    ...(options.keepPrevious ? { placeholderData: keepPreviousData as never } : {}),
  });
  useRefetchOnEvents(key, options, found.data?.pages.length);
  // Unchanged rows stay the same array, so that callers do not sort them again.
  const rows = useMemo(() => found.data?.pages.flatMap((page) => page.data) ?? [], [found.data]);
  return toPagedRows(found, rows);
}

function toPagedRows<R>(found: UseInfiniteQueryResult<InfiniteData<{ data: R[] }>>, rows: R[]): PagedRows<R> {
  return {
    rows,
    isPending: found.isPending,
    isFetching: found.isFetching,
    error: found.error,
    hasMore: found.hasNextPage,
    loadMore: () => {
      if (found.hasNextPage && !found.isFetchingNextPage) void found.fetchNextPage();
    },
    refetch: () => void found.refetch(),
  };
}

function useRefetchOnEvents(key: readonly unknown[], options: QueryOptions, pages = 1): void {
  const client = useQueryClient();
  const last = useRef(0);
  const timer = useRef<ReturnType<typeof setTimeout> | null>(null);
  const latest = useRef(key);
  latest.current = key;
  useEffect(
    () => () => {
      if (timer.current) clearTimeout(timer.current);
    },
    [],
  );
  useLive(options.enabled === false ? NO_EVENTS : (options.on ?? NO_EVENTS), (batch) => {
    // A hidden page refetches when it becomes visible.
    if (timer.current || document.hidden) return;
    const { where } = options;
    if (where && !batch.some((event) => event.type === "lagged" || where(event))) return;
    const wait = Math.max(0, last.current + REFETCH_MIN_MS * pages - Date.now());
    timer.current = setTimeout(() => {
      timer.current = null;
      last.current = Date.now();
      void client.invalidateQueries({ queryKey: latest.current, exact: true });
    }, wait);
  });
}

const NO_EVENTS: readonly EventType[] = [];

export interface MutationOptions<O extends Operation> {
  /** Operations whose cached responses are outdated afterwards; they are refetched. */
  invalidates?: readonly Operation[];
  done?: (answer: ApiResult<O>) => void;
  /** Extra headers, for example If-Match to change exactly one version. */
  headers?: Record<string, string>;
}

/** Changes data. Use `mutate(call)` or `mutateAsync(call)`; `error` is a ProblemError. */
export function useApiMutation<O extends Operation>(operation: O, options: MutationOptions<O> = {}): UseMutationResult<ApiResult<O>, Error, Call<O>> {
  const client = useQueryClient();
  return useMutation<ApiResult<O>, Error, Call<O>>({
    mutationFn: (call) => callApi(operation, call, options.headers ? { headers: options.headers } : {}),
    onSuccess: async (answer) => {
      options.done?.(answer);
      await Promise.all((options.invalidates ?? []).map((outdated) => invalidateOperation(client, outdated)));
    },
  });
}

/** Refetches an operation wherever its data is shown. */
export async function invalidateOperation(client: QueryClient, operation: Operation): Promise<void> {
  await Promise.all([
    client.invalidateQueries({ queryKey: [operation] }),
    client.invalidateQueries({ queryKey: ["pages", operation] }),
  ]);
}
