// The log of a run, followed live, with search and levels. Only visible lines are rendered, so that
// 100,000 lines scroll like a hundred.
import { useVirtualizer } from "@tanstack/react-virtual";
import { useCallback, useDeferredValue, useEffect, useMemo, useReducer, useRef, useState } from "react";
import { callApi } from "../../api/client.ts";
import { ProblemError } from "../../api/problem.ts";
import type { LogLine, Logs, RunDetail } from "../../api/schema.gen.ts";
import { readStream } from "../../api/stream.ts";
import { formatCount } from "../../lib/figures.ts";
import { formatTime } from "../../lib/time.ts";
import { Button } from "../../ui/Button.tsx";
import { Card } from "../../ui/Card.tsx";
import { CheckField, Picker, SearchField } from "../../ui/Fields.tsx";
import { Filters } from "../../ui/Filters.tsx";
import { EmptyState, ErrorNote, Loading } from "../../ui/Notes.tsx";
import { ZONE, hoverText } from "../../ui/Time.tsx";
import { ACTIVE_STATUSES, type Level, type Line, filterLines, linesOf } from "./model.ts";

const LEVELS: readonly { value: string; label: string; levels: readonly Level[] }[] = [
  { value: "", label: "All levels", levels: [] },
  { value: "warning", label: "Warnings and errors", levels: ["warning", "error"] },
  { value: "error", label: "Errors", levels: ["error"] },
  { value: "rota", label: "System", levels: ["rota"] },
];
/** Log chunks per request, and the render interval of a stream in milliseconds. */
const PAGE = 1_000;
const SHOW_EVERY = 200;

interface Tail {
  lines: readonly Line[];
  isReading: boolean;
  error: Error | null;
  again: () => void;
}

/** Reads the existing log page by page, then follows it until the run has ended. */
function useTail(run: RunDetail): Tail {
  const lines = useRef<Line[]>([]);
  const [version, show] = useReducer((number: number) => number + 1, 0);
  const [isReading, setReading] = useState(true);
  const [error, setError] = useState<Error | null>(null);
  const [round, again] = useReducer((number: number) => number + 1, 0);
  const isAlive = ACTIVE_STATUSES.has(run.status);
  const runId = run.run_id;
  useEffect(() => {
    const own = new AbortController();
    lines.current = [];
    setReading(true);
    setError(null);
    const add = (pieces: readonly LogLine[]) => {
      for (const piece of pieces) lines.current.push(...linesOf(piece));
    };
    readLog(runId, isAlive, own.signal, add, show, () => setReading(false)).catch((caught: unknown) => {
      if (!own.signal.aborted) setError(caught as Error);
    });
    return () => own.abort();
  }, [runId, isAlive, round]);
  // A new array whenever lines were added: consumers compare arrays by identity.
  // eslint-disable-next-line react-hooks/exhaustive-deps
  return { lines: useMemo(() => [...lines.current], [version, runId]), isReading, error, again };
}

async function readLog(runId: string, isAlive: boolean, signal: AbortSignal, add: (pieces: readonly LogLine[]) => void, show: () => void, read: () => void): Promise<void> {
  let last: string | null = null;
  for (;;) {
    const page: Logs = await callApi("GET /v1/runs/{run_id}/logs", { path: { run_id: runId }, query: { limit: PAGE, ...(last === null ? {} : { after: last }) } }, { signal });
    add(page.data);
    last = page.cursor;
    show();
    if (page.data.length < PAGE) break;
  }
  read();
  while (isAlive && !signal.aborted) {
    let timer: ReturnType<typeof setTimeout> | null = null;
    let isOver = false;
    try {
      await readStream(`/ui/v1/runs/${encodeURIComponent(runId)}/logs?follow=true`, {
        ...(last === null ? {} : { last }),
        signal,
        onEvent: (event) => {
          if (event.event === "end") isOver = true;
          if (event.event !== "line") return;
          last = event.id;
          add([JSON.parse(event.data) as LogLine]);
          timer ??= setTimeout(() => {
            timer = null;
            show();
          }, SHOW_EVERY);
        },
      });
    } catch (caught) {
      // A rejected stream stays rejected; a broken connection is reopened.
      if (signal.aborted || (caught instanceof ProblemError && caught.status > 0)) throw caught;
    }
    if (isOver) return;
    await new Promise((done) => setTimeout(done, 1_000));
  }
}

export function LogTail({ run }: { run: RunDetail }) {
  const tail = useTail(run);
  const [search, setSearch] = useState("");
  const [level, setLevel] = useState("");
  const [attempt, setAttempt] = useState("");
  const [isFollowing, setFollowing] = useState(true);
  const deferredSearch = useDeferredValue(search);
  const levels = useMemo(() => new Set(LEVELS.find((option) => option.value === level)?.levels), [level]);
  const shown = useMemo(() => filterLines(tail.lines, deferredSearch, levels, attempt === "" ? null : Number(attempt)), [tail.lines, deferredSearch, levels, attempt]);
  const change = useCallback((text: string) => setSearch(text), []);
  return (
    <Card flush title="Log" aside={<span className="soft">{shown.length === tail.lines.length ? formatCount(tail.lines.length, "line") : `${formatCount(shown.length, "line")} of ${tail.lines.length}`}</span>}>
      <Filters name="Log filters">
        <SearchField name="Search the log" value={search} change={change} />
        <Picker name="Level" value={level} options={LEVELS.map(({ value, label }) => ({ value, label }))} change={setLevel} />
        {run.attempt_number > 1 && (
          <Picker name="Attempt" value={attempt} options={[{ value: "", label: "All attempts" }, ...numbers(run.attempt_number).map((number) => ({ value: String(number), label: `Attempt ${number}` }))]} change={setAttempt} />
        )}
        {ACTIVE_STATUSES.has(run.status) && <CheckField label="Follow" checked={isFollowing} change={setFollowing} />}
        <Button small disabled={shown.length === 0} onClick={() => downloadLines(run.run_id, shown)}>
          Download
        </Button>
      </Filters>
      {tail.error && <ErrorNote error={tail.error} retry={tail.again} />}
      {tail.isReading && tail.lines.length === 0 && !tail.error ? <Loading what="log" /> : <Lines lines={shown} isFollowing={isFollowing && ACTIVE_STATUSES.has(run.status)} isEmpty={tail.lines.length === 0} />}
    </Card>
  );
}

function Lines({ lines, isFollowing, isEmpty }: { lines: readonly Line[]; isFollowing: boolean; isEmpty: boolean }) {
  const box = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({ count: lines.length, getScrollElement: () => box.current, estimateSize: () => 20, overscan: 30, getItemKey: (index) => lines[index]?.key ?? index });
  useEffect(() => {
    if (isFollowing && lines.length > 0) virtual.scrollToIndex(lines.length - 1);
  }, [isFollowing, lines.length, virtual]);
  if (lines.length === 0) {
    return (
      <EmptyState icon="list" title={isEmpty ? "No log output" : "No matches"}>
        {isEmpty ? "Everything that the handler prints or logs appears here live." : "Change the search or choose all levels."}
      </EmptyState>
    );
  }
  return (
    <div ref={box} className="log" tabIndex={0} role="log" aria-label="Log" aria-live="off">
      <div className="log-all" style={{ height: virtual.getTotalSize() }}>
        {virtual.getVirtualItems().map((item) => {
          const line = lines[item.index];
          return (
            line && (
              <div key={item.key} data-index={item.index} ref={virtual.measureElement} className={`log-line log-${line.level}`} style={{ transform: `translateY(${item.start}px)` }}>
                <span className="log-at" title={hoverText(line.at, "milli")}>
                  {formatTime(line.at, ZONE, "milli").slice(11)}
                </span>
                <span className="log-level">{line.level}</span>
                <span className="log-text">{line.text}</span>
              </div>
            )
          );
        })}
      </div>
    </div>
  );
}

function numbers(max: number): number[] {
  return Array.from({ length: Math.min(max, 100) }, (_, index) => index + 1);
}

/** Downloads the shown lines as a text file. */
function downloadLines(runId: string, lines: readonly Line[]): void {
  const url = URL.createObjectURL(new Blob([lines.map((line) => `${line.at} ${line.level} ${line.text}\n`).join("")], { type: "text/plain" }));
  const link = document.createElement("a");
  link.href = url;
  link.download = `${runId}.log`;
  link.click();
  URL.revokeObjectURL(url);
}
