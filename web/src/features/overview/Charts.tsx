// Charts of finished runs and lag over the last hour, day or month.
import { useMemo } from "react";
import { useApiQuery } from "../../api/queries.ts";
import type { SeriesView } from "../../api/schema.gen.ts";
import { formatCompact } from "../../lib/figures.ts";
import { formatDurationShort } from "../../lib/time.ts";
import { Card } from "../../ui/Card.tsx";
import { Chart, type Layer } from "../../ui/Chart.tsx";
import { QueryView } from "../../ui/Notes.tsx";
import { ZONE } from "../../ui/Time.tsx";
import { type Span, groupOutcomes, describeOutcomes, describeWaits, collectWaits } from "./model.ts";

export function Charts({ span }: { span: Span }) {
  const series = useApiQuery("GET /v1/statistics/series", { query: { span } }, { every: span === "hour" ? 5_000 : 60_000, keepPrevious: true });
  return (
    <div className="grid-2">
      <Card title="Finished runs" aside={series.data?.is_estimate ? <span className="faint">estimated</span> : null}>
        <QueryView query={series} what="finished runs">
          {(found) => <Outcomes found={found} />}
        </QueryView>
      </Card>
      <Card title="Lag">
        <QueryView query={series} what="lag">
          {(found) => <Lag found={found} />}
        </QueryView>
      </Card>
    </div>
  );
}

function Outcomes({ found }: { found: SeriesView }) {
  const shown = useMemo(() => groupOutcomes(found.buckets, found.width_s), [found]);
  const layers = useMemo<Layer[]>(
    () => [
      { kind: "bars", label: "succeeded", tone: "good", values: shown.good },
      { kind: "bars", label: "not run", tone: "idle", values: shown.unrun },
      { kind: "bars", label: "failed", tone: "bad", values: shown.bad },
    ],
    [shown],
  );
  return <Chart figure="overview.chart.outcomes" name="Finished runs by outcome" at={shown.at} layers={layers} format={formatCompact} describe={(index) => describeOutcomes(shown, index, ZONE)} />;
}

function Lag({ found }: { found: SeriesView }) {
  const shown = useMemo(() => collectWaits(found.buckets, found.width_s), [found]);
  const layers = useMemo<Layer[]>(
    () => [
      { kind: "line", label: "p99", tone: "warn", values: shown.p99 },
      { kind: "line", label: "p50", tone: "busy", values: shown.p50 },
    ],
    [shown],
  );
  return <Chart figure="overview.chart.lag" name="Lag: time from ready to start" at={shown.at} layers={layers} format={seconds} describe={(index) => describeWaits(shown, index, ZONE)} />;
}

function seconds(value: number): string {
  if (value === 0) return "0";
  return value < 1 ? `${Math.round(value * 1000)} ms` : value < 10 ? `${value} s` : formatDurationShort(value);
}
