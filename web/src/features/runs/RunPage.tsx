// The page of a run: how it stands and why, what it did with its time, what it was given, what came of
// it, and what it wrote.
import { Link, useParams } from "wouter";
import { useAsk } from "../../api/queries.ts";
import type { RunDetail } from "../../api/schema.gen.ts";
import { percent } from "../../lib/figures.ts";
import { link } from "../../lib/url.ts";
import { ButtonLink } from "../../ui/Button.tsx";
import { Card, Facts, PageHead, ProgressBar } from "../../ui/Card.tsx";
import { CopyButton } from "../../ui/Copy.tsx";
import { JsonView } from "../../ui/Json.tsx";
import { Answered, EmptyState } from "../../ui/Notes.tsx";
import { StateBadge } from "../../ui/State.tsx";
import { Duration, Time, Told } from "../../ui/Time.tsx";
import { RunActions } from "./Actions.tsx";
import { Attempts } from "./Attempts.tsx";
import { LogTail } from "./LogTail.tsx";
import { ErrorCard } from "../../ui/Traceback.tsx";
import { ALIVE, otherReason, withoutError } from "./model.ts";
import "./runs.css";

export default function RunPage() {
  const { id = "" } = useParams<{ id: string }>();
  const run = useAsk("GET /v1/runs/{run_id}", { path: { run_id: id } }, { on: ["run.started", "run.progressed", "run.cancelling", "run.attempted", "run.ended"], every: 5_000, keep: true });
  if (run.error && "status" in run.error && (run.error.status === 404 || run.error.status === 422)) {
    return (
      <EmptyState sign="search" title="There is no such run." action={<ButtonLink href="/runs">All runs</ButtonLink>}>
        Its day may be over: history is kept for as long as the settings say.
      </EmptyState>
    );
  }
  return (
    <Answered asked={run} what="the run">
      {(found) => <Loaded key={found.run_id} run={found} />}
    </Answered>
  );
}

function Loaded({ run }: { run: RunDetail }) {
  const reason = otherReason(run.reason);
  return (
    <>
      <PageHead
        title={run.job_name ?? "Run"}
        trail={
          <>
            <Link href="/runs">Runs</Link>
            {run.graph_run_id && (
              <>
                {" / "}
                <Link href={`/graphs/${run.graph_run_id}`}>its graph run</Link>
              </>
            )}
          </>
        }
        about={<Standing run={run} />}
      >
        {run.kind === "graph" && <ButtonLink href={`/graphs/${run.run_id}`} sign="graph">Graph</ButtonLink>}
        <RunActions run={run} />
      </PageHead>
      {run.status === "running" && run.progress !== null && (
        <div className="stack stack-tight">
          <ProgressBar share={run.progress} name="Progress" />
          <span className="soft wrap">
            {percent(run.progress)}
            {run.progress_message && `: ${run.progress_message}`}
          </span>
        </div>
      )}
      {run.error_message && <ErrorCard message={run.error_message} errors={run.traceback} />}
      <div className="runs-columns">
        <Attempts run={run} />
        <Card title="About it">
          <Facts
            of={[
              ["Job", <Link href={`/jobs/${run.job_id}`}>{run.job_name ?? run.job_id}</Link>],
              run.job_version !== null && ["Job version", run.job_version],
              Object.keys(run.labels).length > 0 && ["Labels", Object.entries(run.labels).map(([key, value]) => `${key}: ${value}`).join(", ")],
              ["Scheduled", <Time at={run.scheduled_at} />],
              run.due_at !== run.scheduled_at && ["Due", <Time at={run.due_at} />],
              ["Started", <Time at={run.start_time} as="milli" />],
              ["Ended", <Time at={run.end_time} as="milli" />],
              ["Took", <Duration start={run.start_time} end={run.end_time} />],
              run.deadline_at !== null && ["Deadline", <Time at={run.deadline_at} />],
              ["Kind", run.kind],
              ["Queue", <Link href={link("/runs", { queue: run.queue })}>{run.queue}</Link>],
              ["Priority", run.priority],
              ["Made by", run.trigger],
              run.user_id !== null && ["User", run.user_id],
              run.submitter !== null && ["Submitted by", run.submitter],
              run.address !== null && ["Submitted from", <span className="mono">{run.address}</span>],
              Object.keys(run.labels).length > 0 && ["Labels", Object.entries(run.labels).map(([key, value]) => `${key}:${value}`).join(", ")],
              run.worker !== null && ["Worker", <Link href={link("/workers", { worker: run.executor_id })}>{run.worker}</Link>],
              run.backfill_id !== null && ["Backfill", <Link href={link("/backfills", { backfill: run.backfill_id })}>{run.backfill_id}</Link>],
            ]}
          />
        </Card>
      </div>
      <div className="runs-columns">
        <Card title="Payload">
          <JsonView value={run.payload} name="Payload" />
        </Card>
        <Card title={reason === null ? "Result" : "Reason"}>
          {run.end_time === null ? <p className="soft">It has not ended.</p> : <JsonView value={reason ?? run.result} name={reason === null ? "Result" : "Reason"} />}
        </Card>
      </div>
      <LogTail run={run} />
      <div className="row faint mono">
        {run.run_id} <CopyButton text={run.run_id} name="Copy the id" />
      </div>
    </>
  );
}

/** The state, and why it is so in one sentence. */
function Standing({ run }: { run: RunDetail }) {
  const isAlive = ALIVE.has(run.status);
  const why = useAsk("GET /v1/runs/{run_id}/explain", { path: { run_id: run.run_id } }, { keep: true, ...(isAlive ? { every: 5_000, on: ["run.started", "run.ended"] as const } : {}) });
  return (
    <span className="row">
      <StateBadge state={run.status} />
      {why.data && (
        <span className="wrap">
          <Told text={run.error_message ? withoutError(why.data.sentence) : why.data.sentence} />
        </span>
      )}
    </span>
  );
}
