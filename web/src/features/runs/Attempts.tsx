// The attempts of a run, and a waterfall of its time: waiting, running, waiting for a retry.
import { useApiQuery } from "../../api/queries.ts";
import type { AttemptView, RunDetail } from "../../api/schema.gen.ts";
import { statusLook } from "../../lib/states.ts";
import { formatDuration } from "../../lib/time.ts";
import { Card } from "../../ui/Card.tsx";
import { QueryView } from "../../ui/Notes.tsx";
import { StatusBadge } from "../../ui/StatusBadge.tsx";
import { Duration, Time, useNow } from "../../ui/Time.tsx";
import { Traceback } from "../../ui/Traceback.tsx";
import { ACTIVE_STATUSES, type Bar, type Waterfall, waterfall } from "./model.ts";

export function Attempts({ run }: { run: RunDetail }) {
  const attempts = useApiQuery("GET /v1/runs/{run_id}/attempts", { path: { run_id: run.run_id } }, { on: ["run.started", "run.attempted", "run.ended"], ...(ACTIVE_STATUSES.has(run.status) ? { every: 5_000 } : {}), keepPrevious: true });
  return (
    <Card title="Attempts">
      <QueryView query={attempts} what="attempts">
        {({ data }) => (data.length === 0 && run.start_time === null ? <p className="soft">No attempts yet</p> : <AttemptList run={run} attempts={data} />)}
      </QueryView>
    </Card>
  );
}

function AttemptList({ run, attempts }: { run: RunDetail; attempts: readonly AttemptView[] }) {
  const now = useNow();
  const waterfallView = waterfall(run, attempts, now);
  // The error of the last attempt is the run's error, which the page shows above.
  const last = run.error_message === null ? null : run.attempt_number;
  return (
    <div className="stack">
      {waterfallView && <WaterfallBars fall={waterfallView} />}
      <ol className="attempts">
        {attempts.map((attempt) => (
          <li key={attempt.attempt_number} className="attempt">
            <span className="row">
              <strong>Attempt {attempt.attempt_number}</strong>
              <StatusBadge status={attempt.outcome} />
              <span className="soft">
                <Time at={attempt.start_time} as="milli" />, <Duration start={attempt.start_time} end={attempt.end_time} />
                {attempt.worker && <> on {attempt.worker}</>}
              </span>
            </span>
            {attempt.error_message && attempt.error_message !== run.error_message && <span className="bad-text wrap mono">{attempt.error_message}</span>}
            {attempt.traceback && attempt.attempt_number !== last && (
              <details>
                <summary className="soft">Traceback</summary>
                <Traceback errors={attempt.traceback} />
              </details>
            )}
          </li>
        ))}
      </ol>
    </div>
  );
}

function WaterfallBars({ fall }: { fall: Waterfall }) {
  const whole = fall.end - fall.start;
  return (
    <div className="waterfall" role="img" aria-label={fall.bars.map(describeBar).join("; ")}>
      {fall.bars.map((bar) => (
        <div key={`${bar.kind} ${bar.start}`} className="waterfall-row">
          <span className="waterfall-name cut">{bar.label}</span>
          <div className="waterfall-track">
            <div
              className={`waterfall-bar waterfall-${bar.kind} tone-${statusLook(bar.state).tone}`}
              title={describeBar(bar)}
              style={{ left: `${(100 * (bar.start - fall.start)) / whole}%`, width: `${Math.max(0.4, (100 * (bar.end - bar.start)) / whole)}%` }}
            />
          </div>
          <span className="waterfall-length num">{formatDuration((bar.end - bar.start) / 1000)}</span>
        </div>
      ))}
    </div>
  );
}

function describeBar(bar: Bar): string {
  const took = formatDuration((bar.end - bar.start) / 1000);
  return bar.kind === "waited" ? `${bar.label} ${took}` : `${bar.label} ${statusLook(bar.state).word}, ${took}`;
}
