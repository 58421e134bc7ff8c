// Reading and changing with a cache: hooks around `ask`.
//
//   const jobs = useAsk("GET /v1/jobs", { query: { q } }, { on: ["job.changed"] });
//   const pause = useTell("POST /v1/jobs/{job_id}/pause", { spoils: ["GET /v1/jobs"] });
//
// `on` names events of the live feed after which it is read again, at most once in two seconds; a list of
// many pages, all of which are read then, more rarely.
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
import { type Answer, type Call, type Operation, ask } from "./client.ts";
import { type EventType, type LiveEvent, useLive } from "./live.ts";
import { ProblemError } from "./problem.ts";

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 2_000,
      // What was refused stays refused; what was not answered may be, the next time.
      retry: (times, error) => times < 2 && !(error instanceof ProblemError && error.status >= 400 && error.status < 500),
      retryDelay: (times) => 500 * 2 ** times,
      refetchOnWindowFocus: true,
    },
  },
});

/** At most so often is a list read again because of events. */
const CALM = 2_000;

export interface Reading {
  /** Not asked at all while false. */
  enabled?: boolean;
  /** Read again after these events of the feed. */
  on?: readonly EventType[];
  /** Of those, the ones that matter, such as those of one job. */
  where?: (event: LiveEvent) => boolean;
  /** Read again every so many milliseconds. */
  every?: number;
  /** Keep what was shown until the answer to a changed question is there. */
  keep?: boolean;
  staleTime?: number;
}

export function keyOf<O extends Operation>(operation: O, call?: Call<O>): readonly unknown[] {
  return call === undefined ? [operation] : [operation, call];
}

export function useAsk<O extends Operation>(operation: O, call: Call<O>, reading: Reading = {}): UseQueryResult<Answer<O>> {
  const key = keyOf(operation, call);
  useFresh(key, reading);
  return useQuery<Answer<O>>({
    queryKey: key,
    queryFn: ({ signal }) => ask(operation, call, { signal }),
    enabled: reading.enabled ?? true,
    ...(reading.every === undefined ? {} : { refetchInterval: reading.every }),
    ...(reading.staleTime === undefined ? {} : { staleTime: reading.staleTime }),
    ...(reading.keep ? { placeholderData: keepPreviousData as never } : {}),
  });
}

/** Operations whose answer is a page with a `next_cursor`. */
export type Paged = { [O in Operation]: Answer<O> extends { data: unknown[]; next_cursor: string | null } ? O : never }[Operation];
export type Row<O extends Paged> = Answer<O> extends { data: Array<infer R> } ? R : never;

export interface Pages<R> {
  rows: R[];
  /** The first page is not there yet. */
  isPending: boolean;
  isFetching: boolean;
  error: Error | null;
  hasMore: boolean;
  more: () => void;
  again: () => void;
}

/** A list that is read page by page. */
export function usePages<O extends Paged>(operation: O, call: Call<O>, reading: Reading = {}): Pages<Row<O>> {
  const key = ["pages", operation, call];
  type Page = { data: Row<O>[]; next_cursor: string | null };
  const found = useInfiniteQuery<Page, Error, InfiniteData<Page>, readonly unknown[], string | null>({
    queryKey: key,
    queryFn: async ({ pageParam, signal }) => {
      const plain = call as { query?: Record<string, unknown> };
      const query = pageParam === null ? plain.query : { ...plain.query, cursor: pageParam };
      return (await ask(operation, { ...call, query } as Call<O>, { signal })) as unknown as Page;
    },
    initialPageParam: null,
    getNextPageParam: (last) => last.next_cursor,
    enabled: reading.enabled ?? true,
    ...(reading.every === undefined ? {} : { refetchInterval: reading.every }),
    ...(reading.keep ? { placeholderData: keepPreviousData as never } : {}),
  });
  useFresh(key, reading, found.data?.pages.length);
  // The same rows are the same list: whoever sorts them need not do so again.
  const rows = useMemo(() => found.data?.pages.flatMap((page) => page.data) ?? [], [found.data]);
  return shown(found, rows);
}

function shown<R>(found: UseInfiniteQueryResult<InfiniteData<{ data: R[] }>>, rows: R[]): Pages<R> {
  return {
    rows,
    isPending: found.isPending,
    isFetching: found.isFetching,
    error: found.error,
    hasMore: found.hasNextPage,
    more: () => {
      if (found.hasNextPage && !found.isFetchingNextPage) void found.fetchNextPage();
    },
    again: () => void found.refetch(),
  };
}

function useFresh(key: readonly unknown[], reading: Reading, pages = 1): void {
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
  useLive(reading.enabled === false ? NOTHING : (reading.on ?? NOTHING), (batch) => {
    // A page that nobody sees is read again when somebody does.
    if (timer.current || document.hidden) return;
    const { where } = reading;
    if (where && !batch.some((event) => event.type === "lagged" || where(event))) return;
    const wait = Math.max(0, last.current + CALM * pages - Date.now());
    timer.current = setTimeout(() => {
      timer.current = null;
      last.current = Date.now();
      void client.invalidateQueries({ queryKey: latest.current, exact: true });
    }, wait);
  });
}

const NOTHING: readonly EventType[] = [];

export interface Telling<O extends Operation> {
  /** Operations whose answers are wrong afterwards; they are read again. */
  spoils?: readonly Operation[];
  done?: (answer: Answer<O>) => void;
  /** As If-Match, for a change of exactly this version. */
  headers?: Record<string, string>;
}

/** A change. `mutate(call)` or `mutateAsync(call)`; `error` is a ProblemError. */
export function useTell<O extends Operation>(operation: O, telling: Telling<O> = {}): UseMutationResult<Answer<O>, Error, Call<O>> {
  const client = useQueryClient();
  return useMutation<Answer<O>, Error, Call<O>>({
    mutationFn: (call) => ask(operation, call, telling.headers ? { headers: telling.headers } : {}),
    onSuccess: async (answer) => {
      telling.done?.(answer);
      await Promise.all((telling.spoils ?? []).map((each) => spoil(client, each)));
    },
  });
}

/** Read the answers of an operation again wherever they are shown. */
export async function spoil(client: QueryClient, operation: Operation): Promise<void> {
  await Promise.all([
    client.invalidateQueries({ queryKey: [operation] }),
    client.invalidateQueries({ queryKey: ["pages", operation] }),
  ]);
}
