// How it goes: figures, charts, what needs somebody, and whether everything is alive.
import { useMemo, useRef, useState } from "react";
import { Link, useSearchParams } from "wouter";
import { type LiveEvent, useLink, useLive } from "../../api/live.ts";
import { useAsk } from "../../api/queries.ts";
import type { StatisticsView } from "../../api/schema.gen.ts";
import { rate } from "../../lib/figures.ts";
import { length } from "../../lib/time.ts";
import { changed, oneOf } from "../../lib/url.ts";
import { Card, PageHead, Stat } from "../../ui/Card.tsx";
import { Segments } from "../../ui/Fields.tsx";
import { Answered } from "../../ui/Notes.tsx";
import { useNow } from "../../ui/Time.tsx";
import { Charts } from "./Charts.tsx";
import { HealthCard } from "./HealthCard.tsx";
import { FailingCard, LateCard, LongestCard } from "./Lists.tsx";
import { SECONDS, SPANS, type Span, average, depth, failureTone, failures, perSecond, share } from "./model.ts";
import "./overview.css";

const MINUTE = 60_000;

export default function OverviewPage() {
  const [params, setParams] = useSearchParams();
  const span = oneOf(params.get("span"), SPANS);
  const minute = Math.floor(useNow() / MINUTE) * MINUTE;
  const since = useMemo(() => new Date(minute - SECONDS[span] * 1000).toISOString(), [minute, span]);
  const statistics = useAsk("GET /v1/statistics", { query: { since } }, { every: 5_000, keep: true });
  return (
    <>
      <PageHead title="Overview">
        <Segments
          name="Time span"
          value={span}
          options={SPANS.map((each) => ({ value: each, label: `Last ${each}` }))}
          change={(next) => setParams(changed(params, { span: next === "hour" ? null : next }), { replace: true })}
        />
      </PageHead>
      <Card flush>
        <Answered asked={statistics} what="the figures">
          {(found) => <Figures found={found} span={span} />}
        </Answered>
      </Card>
      <Charts span={span} />
      <div className="overview-lists">
        <FailingCard since={since} />
        <LateCard late={statistics.data?.late_ticks ?? 0} by={statistics.data?.latest_tick_by_s ?? 0} />
        <LongestCard />
      </div>
      <HealthCard />
    </>
  );
}

function Figures({ found, span }: { found: StatisticsView; span: Span }) {
  const live = useLiveRate();
  const { waiting, oldest } = depth(found);
  return (
    <div className="stats">
      <Stat counts figure="overview.rate" name="Runs per second" value={rate(live ?? found.runs_per_second)} note={`${rate(average(found))} on average in the last ${span}`} />
      <Stat figure="overview.lag_p50" name="Lag, median" value={found.wait_p50_s === null ? "–" : length(found.wait_p50_s)} note="from when a run could start" />
      <Stat figure="overview.lag_p99" name="Lag, 99 %" value={found.wait_p99_s === null ? "–" : length(found.wait_p99_s)} note="of runs start sooner" />
      <Stat counts figure="overview.failure_rate" name="Failure rate" value={share(found.failure_rate)} note={failures(found)} {...toned(failureTone(found.failure_rate))} />
      <Stat
        counts
        figure="overview.waiting"
        name="Waiting"
        value={<Link href="/queues">{waiting}</Link>}
        note={oldest === null ? "nothing waits" : `the oldest for ${length(oldest)}`}
        {...toned(oldest !== null && oldest > 60 ? "warn" : undefined)}
      />
      <Stat counts figure="overview.late_ticks" name="Late ticks" value={found.late_ticks} note={found.late_ticks === 0 ? "all fired in time" : `the latest by ${length(found.latest_tick_by_s)}`} {...toned(found.late_ticks > 0 ? "bad" : undefined)} />
    </div>
  );
}

function toned<T>(tone: T | undefined): { tone?: T } {
  return tone === undefined ? {} : { tone };
}

const WINDOW = 10_000;

/** Runs that ended, a second, over the last ten: counted from the feed. Null until it has been watched
 * for that long, or while there is no feed. */
function useLiveRate(): number | null {
  const [seen, setSeen] = useState<readonly { at: number; number: number }[]>([]);
  const start = useRef(Date.now());
  const link = useLink();
  const now = useNow();
  useLive(["run.ended"], (batch: LiveEvent[]) => {
    const at = Date.now();
    const number = batch.filter((event) => event.type === "run.ended").length;
    // What was left out is told in numbers.
    const missed = batch.reduce((sum, event) => sum + (event.missed?.["run.ended"] ?? 0), 0);
    setSeen((before) => [...before.filter((each) => each.at > at - WINDOW), { at, number: number + missed }]);
  });
  if (link !== "live" || now - start.current < WINDOW) return null;
  return perSecond(seen, now, WINDOW);
}
