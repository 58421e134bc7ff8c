// Outcomes and waits over the last hour, day or month.
import { useMemo } from "react";
import { useAsk } from "../../api/queries.ts";
import type { SeriesView } from "../../api/schema.gen.ts";
import { compact } from "../../lib/figures.ts";
import { short } from "../../lib/time.ts";
import { Card } from "../../ui/Card.tsx";
import { Chart, type Layer } from "../../ui/Chart.tsx";
import { Answered } from "../../ui/Notes.tsx";
import { ZONE } from "../../ui/Time.tsx";
import { type Span, outcomes, toldOutcomes, toldWaits, waits } from "./model.ts";

export function Charts({ span }: { span: Span }) {
  const series = useAsk("GET /v1/statistics/series", { query: { span } }, { every: span === "hour" ? 5_000 : 60_000, keep: true });
  return (
    <div className="grid-2">
      <Card title="Runs that ended" aside={series.data?.is_estimate ? <span className="faint">estimated</span> : null}>
        <Answered asked={series} what="the runs that ended">
          {(found) => <Outcomes found={found} />}
        </Answered>
      </Card>
      <Card title="Lag">
        <Answered asked={series} what="the lag">
          {(found) => <Lag found={found} />}
        </Answered>
      </Card>
    </div>
  );
}

function Outcomes({ found }: { found: SeriesView }) {
  const shown = useMemo(() => outcomes(found.buckets, found.width_s), [found]);
  const layers = useMemo<Layer[]>(
    () => [
      { kind: "bars", label: "succeeded", tone: "good", values: shown.good },
      { kind: "bars", label: "not run", tone: "idle", values: shown.unrun },
      { kind: "bars", label: "failed", tone: "bad", values: shown.bad },
    ],
    [shown],
  );
  return <Chart figure="overview.chart.outcomes" name="Runs that ended, by outcome" at={shown.at} layers={layers} format={compact} said={(index) => toldOutcomes(shown, index, ZONE)} />;
}

function Lag({ found }: { found: SeriesView }) {
  const shown = useMemo(() => waits(found.buckets, found.width_s), [found]);
  const layers = useMemo<Layer[]>(
    () => [
      { kind: "line", label: "99 %", tone: "warn", values: shown.most },
      { kind: "line", label: "median", tone: "busy", values: shown.half },
    ],
    [shown],
  );
  return <Chart figure="overview.chart.lag" name="How long runs waited once they could start" at={shown.at} layers={layers} format={seconds} said={(index) => toldWaits(shown, index, ZONE)} />;
}

function seconds(value: number): string {
  if (value === 0) return "0";
  return value < 1 ? `${Math.round(value * 1000)} ms` : value < 10 ? `${value} s` : short(value);
}
