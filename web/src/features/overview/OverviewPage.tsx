// The overview: problems, figures, charts, lists that need attention, and health.
import { useMemo, useRef, useState } from "react";
import { Link, useSearchParams } from "wouter";
import { type LiveEvent, useConnection, useLive } from "../../api/live.ts";
import { useApiQuery } from "../../api/queries.ts";
import type { StatisticsView } from "../../api/schema.gen.ts";
import { formatRate } from "../../lib/figures.ts";
import { formatDuration } from "../../lib/time.ts";
import { withQuery, oneOf } from "../../lib/url.ts";
import { Card, PageHead, Stat } from "../../ui/Card.tsx";
import { Segments } from "../../ui/Fields.tsx";
import { QueryView } from "../../ui/Notes.tsx";
import { useNow } from "../../ui/Time.tsx";
import { Charts } from "./Charts.tsx";
import { HealthCard } from "./HealthCard.tsx";
import { FailuresCard, LateCard, LongestCard } from "./Lists.tsx";
import { ProblemsCard } from "./ProblemsCard.tsx";
import { SECONDS, SPANS, type Span, averageRate, queueDepth, failureTone, failureCount, perSecond, formatShare } from "./model.ts";
import "./overview.css";

const MINUTE = 60_000;

export default function OverviewPage() {
  const [params, setParams] = useSearchParams();
  const span = oneOf(params.get("span"), SPANS);
  const minute = Math.floor(useNow() / MINUTE) * MINUTE;
  const since = useMemo(() => new Date(minute - SECONDS[span] * 1000).toISOString(), [minute, span]);
  const statistics = useApiQuery("GET /v1/statistics", { query: { since } }, { every: 5_000, keepPrevious: true });
  return (
    <>
      <PageHead title="Overview">
        <Segments
          name="Time span"
          value={span}
          options={SPANS.map((option) => ({ value: option, label: `Last ${option}` }))}
          change={(next) => setParams(withQuery(params, { span: next === "hour" ? null : next }), { replace: true })}
        />
      </PageHead>
      <ProblemsCard />
      <Card flush>
        <QueryView query={statistics} what="figures">
          {(found) => <Figures found={found} span={span} />}
        </QueryView>
      </Card>
      <Charts span={span} />
      <div className="overview-lists">
        <FailuresCard since={since} />
        <LateCard late={statistics.data?.late_ticks ?? 0} by={statistics.data?.latest_tick_by_s ?? 0} />
        <LongestCard />
      </div>
      <HealthCard />
    </>
  );
}

function Figures({ found, span }: { found: StatisticsView; span: Span }) {
  const live = useLiveRate();
  const { waiting, oldest } = queueDepth(found);
  return (
    <div className="stats">
      <Stat counts figure="overview.rate" name="Runs per second" value={formatRate(live ?? found.runs_per_second)} note={`${formatRate(averageRate(found))} on average in the last ${span}`} />
      <Stat figure="overview.lag_p50" name="Lag p50" value={found.wait_p50_s === null ? "–" : formatDuration(found.wait_p50_s)} note="from ready to start" />
      <Stat figure="overview.lag_p99" name="Lag p99" value={found.wait_p99_s === null ? "–" : formatDuration(found.wait_p99_s)} note="99 % of runs start sooner" />
      <Stat counts figure="overview.failure_rate" name="Failure rate" value={formatShare(found.failure_rate)} note={failureCount(found)} {...toned(failureTone(found.failure_rate))} />
      <Stat
        counts
        figure="overview.waiting"
        name="Waiting"
        value={<Link href="/queues">{waiting}</Link>}
        note={oldest === null ? "no waiting runs" : `oldest waits ${formatDuration(oldest)}`}
        {...toned(oldest !== null && oldest > 60 ? "warn" : undefined)}
      />
      <Stat counts figure="overview.late_ticks" name="Late ticks" value={found.late_ticks} note={found.late_ticks === 0 ? "all on time" : `by up to ${formatDuration(found.latest_tick_by_s)}`} {...toned(found.late_ticks > 0 ? "bad" : undefined)} />
    </div>
  );
}

function toned<T>(tone: T | undefined): { tone?: T } {
  return tone === undefined ? {} : { tone };
}

const WINDOW = 10_000;

/** Finished runs per second over the last ten seconds, counted from the live feed. Null during the first
 * ten seconds, and without a feed. */
function useLiveRate(): number | null {
  const [seen, setSeen] = useState<readonly { at: number; number: number }[]>([]);
  const start = useRef(Date.now());
  const link = useConnection();
  const now = useNow();
  useLive(["run.ended"], (batch: LiveEvent[]) => {
    const at = Date.now();
    const number = batch.filter((event) => event.type === "run.ended").length;
    // Events that did not fit into the batch are counted.
    const missed = batch.reduce((sum, event) => sum + (event.missed?.["run.ended"] ?? 0), 0);
    setSeen((before) => [...before.filter((entry) => entry.at > at - WINDOW), { at, number: number + missed }]);
  });
  if (link !== "live" || now - start.current < WINDOW) return null;
  return perSecond(seen, now, WINDOW);
}
