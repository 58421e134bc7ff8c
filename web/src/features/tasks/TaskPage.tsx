// The page of a task: figures, charts, last failure, workers, recent runs, jobs, payload and policy.
import { useMemo } from "react";
import { Link, useParams, useSearchParams } from "wouter";
import { useApiQuery } from "../../api/queries.ts";
import type { RunView, TaskJob, TaskView, TaskWorker } from "../../api/schema.gen.ts";
import { useMay } from "../../api/session.ts";
import { formatCompact, formatInteger } from "../../lib/figures.ts";
import { type FormField, fieldText } from "../../lib/schema.ts";
import { formatDuration, formatDurationShort } from "../../lib/time.ts";
import { withQuery, kindFromPath, linkTo, oneOf } from "../../lib/url.ts";
import { ButtonLink } from "../../ui/Button.tsx";
import { Card, Facts, PageHead, Stat } from "../../ui/Card.tsx";
import { Chart, type Layer } from "../../ui/Chart.tsx";
import { type Column, DataTable } from "../../ui/DataTable.tsx";
import { Segments } from "../../ui/Fields.tsx";
import { QueryView, EmptyState, Note } from "../../ui/Notes.tsx";
import { StatusBadge } from "../../ui/StatusBadge.tsx";
import { Duration, Time, ZONE } from "../../ui/Time.tsx";
import { WINDOWS, WINDOW_NAMES, type Window, formatPartialCount, finishedRuns, describeFinished, failureCount, payloadFields, perMinute, percentiles, describePercentiles, policyRows, formatShare, typeOf } from "./model.ts";
import "./tasks.css";

const SHOWN_RUNS = 10;

export default function TaskPage() {
  const params = useParams<{ kind: string }>();
  const kind = kindFromPath(params.kind ?? "");
  const [search, setSearch] = useSearchParams();
  const window = oneOf(search.get("window"), WINDOWS);
  const task = useApiQuery("GET /v1/tasks/{kind}", { path: { kind }, query: { window } }, { every: 10_000, keepPrevious: true });
  const mayRun = useMay("POST /v1/jobs");
  if (task.error && "status" in task.error && task.error.status === 404) {
    return (
      <EmptyState icon="search" title="Task not found" action={<ButtonLink href="/tasks">Show all tasks</ButtonLink>}>
        No worker serves {kind} for this tenant, and no job or run uses it.
      </EmptyState>
    );
  }
  return (
    <>
      <PageHead title={kind} trail={<Link href="/tasks">Tasks</Link>} about={task.data?.description}>
        <Segments
          name="Window"
          value={window}
          options={(["1h", "24h", "7d", "30d"] as const).map((option) => ({ value: option, label: WINDOW_NAMES[option] }))}
          change={(next: Window) => setSearch(withQuery(search, { window: next === "24h" ? null : next }), { replace: true })}
        />
        {mayRun && (
          <ButtonLink look="primary" icon="play" href={linkTo("/jobs/new", { kind })}>
            Run
          </ButtonLink>
        )}
      </PageHead>
      <QueryView query={task} what="task">
        {(found) => <Loaded task={found} />}
      </QueryView>
    </>
  );
}

function Loaded({ task }: { task: TaskView }) {
  return (
    <>
      {task.workers.length === 0 && (
        <Note tone="warn">
          No worker serves this task, so its runs wait. Start one with <code>rota worker module:app</code>.
        </Note>
      )}
      <Card flush>
        <Figures task={task} />
      </Card>
      {task.ended === 0 ? (
        <Card title="Finished runs">
          <EmptyState icon="clock" title="No finished runs in this window">
            {task.last_run_at && (
              <>
                The last run finished <Time at={task.last_run_at} as="relative" />.
              </>
            )}
          </EmptyState>
        </Card>
      ) : (
        <Charts task={task} />
      )}
      <div className="grid-2">
        <LastFailure task={task} />
        <Workers workers={task.workers} />
      </div>
      <RecentRuns task={task} />
      <Jobs task={task} />
      <div className="grid-2">
        <Payload task={task} />
        <Policy task={task} />
      </div>
    </>
  );
}

function Figures({ task }: { task: TaskView }) {
  const isBad = task.failure_rate !== null && task.failure_rate >= 0.1;
  const at = (status: string[]) => linkTo("/runs", { kind: task.kind, status });
  const spans = (p99: number | null) => (p99 === null ? "no finished runs" : `p99 ${formatDuration(p99)}`);
  return (
    <div className="stats">
      <Stat figure="task.running" name="Running" value={<Link href={at(["running", "cancelling"])}>{formatInteger(task.running)}</Link>} note="now" />
      <Stat figure="task.waiting" name="Waiting" value={<Link href={at(["queued", "retrying"])}>{formatPartialCount(task.waiting, task.is_partial)}</Link>} note="for a worker" />
      <Stat figure="task.scheduled" name="Scheduled" value={formatPartialCount(task.scheduled, task.is_partial)} note="for later" />
      <Stat counts figure="task.rate" name="Runs per minute" value={perMinute(task)} note={`${task.is_estimate ? "about " : ""}${formatInteger(task.ended)} finished`} />
      <Stat counts figure="task.failure_rate" name="Failure rate" value={formatShare(task.failure_rate)} note={failureCount(task)} {...(isBad ? { tone: "bad" as const } : {})} />
      <Stat counts figure="task.duration" name="Duration p50" value={task.duration_p50_s === null ? "–" : formatDuration(task.duration_p50_s)} note={spans(task.duration_p99_s)} />
      <Stat counts figure="task.wait" name="Wait p50" value={task.wait_p50_s === null ? "–" : formatDuration(task.wait_p50_s)} note={spans(task.wait_p99_s)} />
    </div>
  );
}

function Charts({ task }: { task: TaskView }) {
  const runs = useMemo(() => finishedRuns(task.series, task.width_s), [task]);
  const layers = useMemo<Layer[]>(
    () => [
      { kind: "bars", label: "not failed", tone: "good", values: runs.fine },
      { kind: "bars", label: "failed", tone: "bad", values: runs.failed },
    ],
    [runs],
  );
  return (
    <>
      <Card title="Finished runs" aside={task.is_estimate ? <span className="faint">estimated</span> : null}>
        <Chart figure="task.chart.ended" name="Finished runs" at={runs.at} layers={layers} format={formatCompact} describe={(index) => describeFinished(runs, index, ZONE)} />
      </Card>
      <div className="grid-2">
        <Card title="Duration">
          <Percentiles task={task} of="duration" name="Duration of runs" />
        </Card>
        <Card title="Wait">
          <Percentiles task={task} of="wait" name="Wait: time from ready to start" />
        </Card>
      </div>
    </>
  );
}

function Percentiles({ task, of, name }: { task: TaskView; of: "duration" | "wait"; name: string }) {
  const shown = useMemo(() => percentiles(task.series, task.width_s, of), [task, of]);
  const layers = useMemo<Layer[]>(
    () => [
      { kind: "line", label: "p99", tone: "warn", values: shown.p99 },
      { kind: "line", label: "p50", tone: "busy", values: shown.p50 },
    ],
    [shown],
  );
  return <Chart figure={`task.chart.${of}`} name={name} at={shown.at} layers={layers} format={formatAxis} describe={(index) => describePercentiles(shown, index, ZONE)} />;
}

function formatAxis(value: number): string {
  if (value === 0) return "0";
  return value < 1 ? `${Math.round(value * 1000)} ms` : value < 10 ? `${value} s` : formatDurationShort(value);
}

function LastFailure({ task }: { task: TaskView }) {
  const failure = task.last_failure;
  return (
    <Card title="Last failure" aside={failure && <Link href={linkTo("/runs", { kind: task.kind, status: ["dead", "lost", "quarantined"] })}>Show all failures</Link>}>
      {failure ? (
        <div className="stack">
          <div className="row">
            <Link href={`/runs/${failure.run_id}`} className="bad-text">
              {failure.error_type ?? "Failed"}
            </Link>
            <span className="faint">
              <Time at={failure.ended_at} as="relative" />
            </span>
          </div>
          {failure.message && <p className="wrap">{failure.message}</p>}
        </div>
      ) : (
        <EmptyState icon="check" title="No recent failures" />
      )}
    </Card>
  );
}

const WORKER_COLUMNS: readonly Column<TaskWorker>[] = [
  {
    id: "worker",
    head: "Worker",
    cell: (worker) => (
      <Link href={linkTo("/workers", { worker: worker.worker_id })} className="table-main wrap">
        {worker.name}
      </Link>
    ),
  },
  { id: "state", head: "Status", cell: (worker) => <StatusBadge status={worker.is_draining ? "draining" : "active"} /> },
  { id: "queues", head: "Queues", cell: (worker) => <span className="soft wrap">{worker.queues.join(", ") || "–"}</span> },
];

function Workers({ workers }: { workers: readonly TaskWorker[] }) {
  return (
    <Card title="Workers" flush>
      <DataTable name="Workers serving this task" rows={workers} columns={WORKER_COLUMNS} rowKey={(worker) => worker.worker_id} empty={<EmptyState icon="chip" title="No workers" />} />
    </Card>
  );
}

const RUN_COLUMNS: readonly Column<RunView>[] = [
  {
    id: "run",
    head: "Run",
    cell: (run) => (
      <Link href={`/runs/${run.run_id}`} className="table-main wrap">
        {run.job_name ?? run.kind}
      </Link>
    ),
  },
  { id: "state", head: "Status", cell: (run) => <StatusBadge status={run.status} /> },
  { id: "when", head: "Scheduled", show: "middle", cell: (run) => <Time at={run.scheduled_at} as="relative" /> },
  { id: "took", head: "Duration", num: true, cell: (run) => <Duration start={run.start_time} end={run.end_time} /> },
  { id: "error", head: "Error", show: "wide", cell: (run) => <span className="soft wrap">{run.error_message ?? "–"}</span> },
];

function RecentRuns({ task }: { task: TaskView }) {
  const runs = useApiQuery("GET /v1/runs", { query: { kind: task.kind, limit: SHOWN_RUNS } }, { every: 10_000, keepPrevious: true });
  return (
    <Card title="Recent runs" flush aside={<Link href={linkTo("/runs", { kind: task.kind })}>Show all runs</Link>}>
      <QueryView query={runs} what="runs">
        {({ data }) => (
          <DataTable
            name={`Recent runs of ${task.kind}`}
            rows={data}
            columns={RUN_COLUMNS}
            rowKey={(run) => run.run_id}
            href={(run) => `/runs/${run.run_id}`}
            keys
            empty={<EmptyState icon="clock" title="No recent runs" />}
          />
        )}
      </QueryView>
    </Card>
  );
}

const JOB_COLUMNS: readonly Column<TaskJob>[] = [
  {
    id: "job",
    head: "Job",
    cell: (job) => (
      <Link href={`/jobs/${job.job_id}`} className="table-main wrap">
        {job.name}
      </Link>
    ),
  },
  { id: "state", head: "Status", cell: (job) => <StatusBadge status={job.status} /> },
  { id: "next", head: "Next run", cell: (job) => <Time at={job.next_run_at} as="relative" /> },
];

function Jobs({ task }: { task: TaskView }) {
  const all = <Link href={linkTo("/jobs", { kind: task.kind })}>Show all jobs</Link>;
  return (
    <Card title="Jobs" flush aside={task.jobs.length > 0 && all}>
      <DataTable
        name={`Jobs of ${task.kind}`}
        rows={task.jobs}
        columns={JOB_COLUMNS}
        rowKey={(job) => job.job_id}
        href={(job) => `/jobs/${job.job_id}`}
        foot={task.has_more_jobs ? `Newest ${task.jobs.length}` : null}
        empty={<EmptyState icon="list" title="No scheduled jobs" />}
      />
    </Card>
  );
}

const FIELD_COLUMNS: readonly Column<FormField>[] = [
  { id: "field", head: "Field", cell: (field) => <code>{field.name}</code> },
  { id: "type", head: "Type", cell: (field) => <span className="wrap">{typeOf(field)}</span> },
  { id: "required", head: "Required", cell: (field) => (field.isRequired ? "yes" : <span className="faint">no</span>) },
  { id: "default", head: "Default", show: "middle", cell: (field) => <code>{fieldText(field, field.fallback) || "–"}</code> },
  { id: "about", head: "Description", show: "wide", cell: (field) => <span className="soft wrap">{field.hint || "–"}</span> },
];

function Payload({ task }: { task: TaskView }) {
  const fields = useMemo(() => payloadFields(task.payload_schema), [task.payload_schema]);
  return (
    <Card title="Payload" flush>
      <DataTable
        name="Payload fields"
        rows={fields ?? []}
        columns={FIELD_COLUMNS}
        rowKey={(field) => field.name}
        empty={<EmptyState icon="list" title={fields === null ? "No schema: any JSON is valid" : "No payload"} />}
      />
    </Card>
  );
}

function Policy({ task }: { task: TaskView }) {
  const rows = policyRows(task.default_policy);
  return (
    <Card title="Default policy">
      {rows.length === 0 ? (
        <p className="soft">The handler declares no options; Rota's defaults apply.</p>
      ) : (
        <Facts of={[...rows, task.supports_exactly_once === true && (["exactly once", "supported"] as const)]} />
      )}
    </Card>
  );
}
