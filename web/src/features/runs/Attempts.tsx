// What a run did with its time, as a waterfall: waited, ran, waited to be tried again.
import { useAsk } from "../../api/queries.ts";
import type { AttemptView, RunDetail } from "../../api/schema.gen.ts";
import { look } from "../../lib/states.ts";
import { length } from "../../lib/time.ts";
import { Card } from "../../ui/Card.tsx";
import { Answered } from "../../ui/Notes.tsx";
import { StateBadge } from "../../ui/State.tsx";
import { Duration, Time, useNow } from "../../ui/Time.tsx";
import { Traceback } from "../../ui/Traceback.tsx";
import { ALIVE, type Bar, type Waterfall, waterfall } from "./model.ts";

export function Attempts({ run }: { run: RunDetail }) {
  const attempts = useAsk("GET /v1/runs/{run_id}/attempts", { path: { run_id: run.run_id } }, { on: ["run.started", "run.attempted", "run.ended"], ...(ALIVE.has(run.status) ? { every: 5_000 } : {}), keep: true });
  return (
    <Card title="Attempts">
      <Answered asked={attempts} what="its attempts">
        {({ data }) => (data.length === 0 && run.start_time === null ? <p className="soft">It has not been tried yet.</p> : <Shown run={run} attempts={data} />)}
      </Answered>
    </Card>
  );
}

function Shown({ run, attempts }: { run: RunDetail; attempts: readonly AttemptView[] }) {
  const now = useNow();
  const fall = waterfall(run, attempts, now);
  // The page shows the error of the run above, which is that of its last attempt.
  const last = run.error_message === null ? null : run.attempt_number;
  return (
    <div className="stack">
      {fall && <Bars fall={fall} />}
      <ol className="attempts">
        {attempts.map((attempt) => (
          <li key={attempt.attempt_number} className="attempt">
            <span className="row">
              <strong>Attempt {attempt.attempt_number}</strong>
              <StateBadge state={attempt.outcome} />
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

function Bars({ fall }: { fall: Waterfall }) {
  const whole = fall.end - fall.start;
  return (
    <div className="fall" role="img" aria-label={fall.bars.map(told).join("; ")}>
      {fall.bars.map((bar) => (
        <div key={`${bar.kind} ${bar.start}`} className="fall-row">
          <span className="fall-name cut">{bar.label}</span>
          <div className="fall-track">
            <div
              className={`fall-bar fall-${bar.kind} tone-${look(bar.state).tone}`}
              title={told(bar)}
              style={{ left: `${(100 * (bar.start - fall.start)) / whole}%`, width: `${Math.max(0.4, (100 * (bar.end - bar.start)) / whole)}%` }}
            />
          </div>
          <span className="fall-length num">{length((bar.end - bar.start) / 1000)}</span>
        </div>
      ))}
    </div>
  );
}

function told(bar: Bar): string {
  const took = length((bar.end - bar.start) / 1000);
  return bar.kind === "waited" ? `${bar.label} ${took}` : `${bar.label} ${look(bar.state).word}, ${took}`;
}
