// The page of a run: status with its reason, attempts, details, payload, result and log.
import { Link, useParams } from "wouter";
import { useApiQuery } from "../../api/queries.ts";
import type { RunDetail } from "../../api/schema.gen.ts";
import { formatPercent } from "../../lib/figures.ts";
import { linkTo } from "../../lib/url.ts";
import { triggerLabel } from "../../lib/words.ts";
import { ButtonLink } from "../../ui/Button.tsx";
import { Card, Facts, PageHead, ProgressBar } from "../../ui/Card.tsx";
import { CopyButton } from "../../ui/CopyButton.tsx";
import { JsonView } from "../../ui/JsonView.tsx";
import { QueryView, EmptyState } from "../../ui/Notes.tsx";
import { StatusBadge } from "../../ui/StatusBadge.tsx";
import { Duration, Time, TextWithTimes } from "../../ui/Time.tsx";
import { RunActions } from "./Actions.tsx";
import { Attempts } from "./Attempts.tsx";
import { LogTail } from "./LogTail.tsx";
import { ErrorCard } from "../../ui/Traceback.tsx";
import { ACTIVE_STATUSES, otherReason, withoutError } from "./model.ts";
import "./runs.css";

export default function RunPage() {
  const { id = "" } = useParams<{ id: string }>();
  const run = useApiQuery("GET /v1/runs/{run_id}", { path: { run_id: id } }, { on: ["run.started", "run.progressed", "run.cancelling", "run.attempted", "run.ended"], every: 5_000, keepPrevious: true });
  if (run.error && "status" in run.error && (run.error.status === 404 || run.error.status === 422)) {
    return (
      <EmptyState icon="search" title="Run not found" action={<ButtonLink href="/runs">Show all runs</ButtonLink>}>
        It may be older than the retention period.
      </EmptyState>
    );
  }
  return (
    <QueryView query={run} what="run">
      {(found) => <Loaded key={found.run_id} run={found} />}
    </QueryView>
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
                <Link href={`/graphs/${run.graph_run_id}`}>Graph run</Link>
              </>
            )}
          </>
        }
        about={<RunStatus run={run} />}
      >
        {run.kind === "graph" && <ButtonLink href={`/graphs/${run.run_id}`} icon="graph">Graph</ButtonLink>}
        <RunActions run={run} />
      </PageHead>
      {run.status === "running" && run.progress !== null && (
        <div className="stack stack-tight">
          <ProgressBar share={run.progress} name="Progress" />
          <span className="soft wrap">
            {formatPercent(run.progress)}
            {run.progress_message && `: ${run.progress_message}`}
          </span>
        </div>
      )}
      {run.error_message && <ErrorCard message={run.error_message} errors={run.traceback} />}
      <div className="runs-columns">
        <Attempts run={run} />
        <Card title="Details">
          <Facts
            of={[
              ["Job", <Link href={`/jobs/${run.job_id}`}>{run.job_name ?? run.job_id}</Link>],
              run.job_version !== null && ["Job version", run.job_version],
              ["Scheduled", <Time at={run.scheduled_at} />],
              run.due_at !== run.scheduled_at && ["Due", <Time at={run.due_at} />],
              ["Started", <Time at={run.start_time} as="milli" />],
              ["Ended", <Time at={run.end_time} as="milli" />],
              ["Duration", <Duration start={run.start_time} end={run.end_time} />],
              run.deadline_at !== null && ["Deadline", <Time at={run.deadline_at} />],
              ["Kind", run.kind],
              ["Queue", <Link href={linkTo("/runs", { queue: run.queue })}>{run.queue}</Link>],
              ["Priority", run.priority],
              ["Trigger", triggerLabel(run.trigger)],
              run.user_id !== null && ["User id", run.user_id],
              run.submitter !== null && ["Submitted by", run.submitter],
              run.address !== null && ["Submitted from", <span className="mono">{run.address}</span>],
              Object.keys(run.labels).length > 0 && ["Labels", Object.entries(run.labels).map(([key, value]) => `${key}:${value}`).join(", ")],
              run.worker !== null && ["Worker", <Link href={linkTo("/workers", { worker: run.executor_id })}>{run.worker}</Link>],
              run.backfill_id !== null && ["Backfill", <Link href={linkTo("/backfills", { backfill: run.backfill_id })}>{run.backfill_id}</Link>],
            ]}
          />
        </Card>
      </div>
      <div className="runs-columns">
        <Card title="Payload">
          <JsonView value={run.payload} name="Payload" />
        </Card>
        <Card title={reason === null ? "Result" : "Reason"}>
          {run.end_time === null ? <p className="soft">Not finished yet</p> : <JsonView value={reason ?? run.result} name={reason === null ? "Result" : "Reason"} />}
        </Card>
      </div>
      <LogTail run={run} />
      <div className="row faint mono">
        {run.run_id} <CopyButton text={run.run_id} name="Copy id" />
      </div>
    </>
  );
}

/** The status, and one sentence that explains it. */
function RunStatus({ run }: { run: RunDetail }) {
  const isAlive = ACTIVE_STATUSES.has(run.status);
  const why = useApiQuery("GET /v1/runs/{run_id}/explain", { path: { run_id: run.run_id } }, { keepPrevious: true, ...(isAlive ? { every: 5_000, on: ["run.started", "run.ended"] as const } : {}) });
  return (
    <span className="row">
      <StatusBadge status={run.status} />
      {why.data && (
        <span className="wrap">
          <TextWithTimes text={[run.error_message ? withoutError(why.data.sentence) : why.data.sentence, why.data.prediction].filter(Boolean).join(" ")} />
        </span>
      )}
    </span>
  );
}
