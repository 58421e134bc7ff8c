// The page of a task: what it does, who serves it, how its runs fare, and what failed last.
import { useMemo } from "react";
import { Link, useParams, useSearchParams } from "wouter";
import { useAsk } from "../../api/queries.ts";
import type { RunView, TaskJob, TaskView, TaskWorker } from "../../api/schema.gen.ts";
import { useMay } from "../../api/session.ts";
import { compact, whole } from "../../lib/figures.ts";
import { type FormField, textOf } from "../../lib/schema.ts";
import { length, short } from "../../lib/time.ts";
import { changed, kindIn, link, oneOf } from "../../lib/url.ts";
import { ButtonLink } from "../../ui/Button.tsx";
import { Card, Facts, PageHead, Stat } from "../../ui/Card.tsx";
import { Chart, type Layer } from "../../ui/Chart.tsx";
import { type Column, DataTable } from "../../ui/DataTable.tsx";
import { Segments } from "../../ui/Fields.tsx";
import { Answered, EmptyState, Note } from "../../ui/Notes.tsx";
import { StateBadge } from "../../ui/State.tsx";
import { Duration, Time, ZONE } from "../../ui/Time.tsx";
import { WINDOWS, WINDOW_NAMES, type Window, counted, ended, endedText, failures, payloadFields, perMinute, percentiles, percentilesText, policyRows, share, typeOf } from "./model.ts";
import "./tasks.css";

const SHOWN_RUNS = 10;

export default function TaskPage() {
  const params = useParams<{ kind: string }>();
  const kind = kindIn(params.kind ?? "");
  const [search, setSearch] = useSearchParams();
  const window = oneOf(search.get("window"), WINDOWS);
  const task = useAsk("GET /v1/tasks/{kind}", { path: { kind }, query: { window } }, { every: 10_000, keep: true });
  const mayRun = useMay("POST /v1/jobs");
  if (task.error && "status" in task.error && task.error.status === 404) {
    return (
      <EmptyState sign="search" title="There is no such task." action={<ButtonLink href="/tasks">All tasks</ButtonLink>}>
        No worker serves {kind} for this tenant, and no job or run names it.
      </EmptyState>
    );
  }
  return (
    <>
      <PageHead title={kind} trail={<Link href="/tasks">Tasks</Link>} about={task.data?.description}>
        <Segments
          name="Window"
          value={window}
          options={(["1h", "24h", "7d", "30d"] as const).map((each) => ({ value: each, label: WINDOW_NAMES[each] }))}
          change={(next: Window) => setSearch(changed(search, { window: next === "24h" ? null : next }), { replace: true })}
        />
        {mayRun && (
          <ButtonLink look="primary" sign="play" href={link("/jobs/new", { kind })}>
            Run
          </ButtonLink>
        )}
      </PageHead>
      <Answered asked={task} what="the task">
        {(found) => <Loaded task={found} />}
      </Answered>
    </>
  );
}

function Loaded({ task }: { task: TaskView }) {
  return (
    <>
      {task.workers.length === 0 && (
        <Note tone="warn">
          No worker serves this task. Its runs wait until one does: <code>rota worker module:app</code> starts one.
        </Note>
      )}
      <Card flush>
        <Figures task={task} />
      </Card>
      {task.ended === 0 ? (
        <Card title="Runs that ended">
          <EmptyState sign="clock" title="No run ended in this window.">
            {task.last_run_at && (
              <>
                The last one ended <Time at={task.last_run_at} as="relative" />.
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
  const at = (status: string[]) => link("/runs", { kind: task.kind, status });
  const spans = (p99: number | null) => (p99 === null ? "nothing ended" : `99 % within ${length(p99)}`);
  return (
    <div className="stats">
      <Stat figure="task.running" name="Running" value={<Link href={at(["running", "cancelling"])}>{whole(task.running)}</Link>} note="now" />
      <Stat figure="task.waiting" name="Waiting" value={<Link href={at(["queued", "retrying"])}>{counted(task.waiting, task.is_partial)}</Link>} note="for a worker" />
      <Stat figure="task.scheduled" name="Scheduled" value={counted(task.scheduled, task.is_partial)} note="for later" />
      <Stat counts figure="task.rate" name="Runs per minute" value={perMinute(task)} note={`${task.is_estimate ? "about " : ""}${whole(task.ended)} ended`} />
      <Stat counts figure="task.failure_rate" name="Failure rate" value={share(task.failure_rate)} note={failures(task)} {...(isBad ? { tone: "bad" as const } : {})} />
      <Stat counts figure="task.duration" name="Duration, median" value={task.duration_p50_s === null ? "–" : length(task.duration_p50_s)} note={spans(task.duration_p99_s)} />
      <Stat counts figure="task.wait" name="Wait, median" value={task.wait_p50_s === null ? "–" : length(task.wait_p50_s)} note={spans(task.wait_p99_s)} />
    </div>
  );
}

function Charts({ task }: { task: TaskView }) {
  const runs = useMemo(() => ended(task.series, task.width_s), [task]);
  const layers = useMemo<Layer[]>(
    () => [
      { kind: "bars", label: "without failure", tone: "good", values: runs.fine },
      { kind: "bars", label: "failed", tone: "bad", values: runs.failed },
    ],
    [runs],
  );
  return (
    <>
      <Card title="Runs that ended" aside={task.is_estimate ? <span className="faint">estimated</span> : null}>
        <Chart figure="task.chart.ended" name="Runs that ended" at={runs.at} layers={layers} format={compact} said={(index) => endedText(runs, index, ZONE)} />
      </Card>
      <div className="grid-2">
        <Card title="Duration">
          <Percentiles task={task} of="duration" name="How long runs took" />
        </Card>
        <Card title="Wait">
          <Percentiles task={task} of="wait" name="How long runs waited once they could start" />
        </Card>
      </div>
    </>
  );
}

function Percentiles({ task, of, name }: { task: TaskView; of: "duration" | "wait"; name: string }) {
  const shown = useMemo(() => percentiles(task.series, task.width_s, of), [task, of]);
  const layers = useMemo<Layer[]>(
    () => [
      { kind: "line", label: "99 %", tone: "warn", values: shown.p99 },
      { kind: "line", label: "median", tone: "busy", values: shown.p50 },
    ],
    [shown],
  );
  return <Chart figure={`task.chart.${of}`} name={name} at={shown.at} layers={layers} format={axis} said={(index) => percentilesText(shown, index, ZONE)} />;
}

function axis(value: number): string {
  if (value === 0) return "0";
  return value < 1 ? `${Math.round(value * 1000)} ms` : value < 10 ? `${value} s` : short(value);
}

function LastFailure({ task }: { task: TaskView }) {
  const failure = task.last_failure;
  return (
    <Card title="Last failure" aside={failure && <Link href={link("/runs", { kind: task.kind, status: ["dead", "lost", "quarantined"] })}>All failures</Link>}>
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
        <EmptyState sign="check" title="No run has failed lately." />
      )}
    </Card>
  );
}

const WORKER_COLUMNS: readonly Column<TaskWorker>[] = [
  {
    id: "worker",
    head: "Worker",
    cell: (worker) => (
      <Link href={link("/workers", { worker: worker.worker_id })} className="table-main wrap">
        {worker.name}
      </Link>
    ),
  },
  { id: "state", head: "State", cell: (worker) => <StateBadge state={worker.is_draining ? "draining" : "active"} /> },
  { id: "queues", head: "Queues", cell: (worker) => <span className="soft wrap">{worker.queues.join(", ") || "–"}</span> },
];

function Workers({ workers }: { workers: readonly TaskWorker[] }) {
  return (
    <Card title="Workers" flush>
      <DataTable name="Workers that serve it" rows={workers} columns={WORKER_COLUMNS} rowKey={(worker) => worker.worker_id} empty={<EmptyState sign="chip" title="No worker serves it." />} />
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
  { id: "state", head: "State", cell: (run) => <StateBadge state={run.status} /> },
  { id: "when", head: "Scheduled", show: "middle", cell: (run) => <Time at={run.scheduled_at} as="relative" /> },
  { id: "took", head: "Duration", num: true, cell: (run) => <Duration start={run.start_time} end={run.end_time} /> },
  { id: "error", head: "Error", show: "wide", cell: (run) => <span className="soft wrap">{run.error_message ?? "–"}</span> },
];

function RecentRuns({ task }: { task: TaskView }) {
  const runs = useAsk("GET /v1/runs", { query: { kind: task.kind, limit: SHOWN_RUNS } }, { every: 10_000, keep: true });
  return (
    <Card title="Recent runs" flush aside={<Link href={link("/runs", { kind: task.kind })}>All runs</Link>}>
      <Answered asked={runs} what="its runs">
        {({ data }) => (
          <DataTable
            name={`Recent runs of ${task.kind}`}
            rows={data}
            columns={RUN_COLUMNS}
            rowKey={(run) => run.run_id}
            href={(run) => `/runs/${run.run_id}`}
            keys
            empty={<EmptyState sign="clock" title="It has no recent runs." />}
          />
        )}
      </Answered>
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
  { id: "state", head: "State", cell: (job) => <StateBadge state={job.status} /> },
  { id: "next", head: "Next run", cell: (job) => <Time at={job.next_run_at} as="relative" /> },
];

function Jobs({ task }: { task: TaskView }) {
  const all = <Link href={link("/jobs", { kind: task.kind })}>All jobs of this task</Link>;
  return (
    <Card title="Jobs" flush aside={task.jobs.length > 0 && all}>
      <DataTable
        name={`Jobs of ${task.kind}`}
        rows={task.jobs}
        columns={JOB_COLUMNS}
        rowKey={(job) => job.job_id}
        href={(job) => `/jobs/${job.job_id}`}
        foot={task.has_more_jobs ? `The newest ${task.jobs.length}` : null}
        empty={<EmptyState sign="list" title="No job runs this task on a schedule." />}
      />
    </Card>
  );
}

const FIELD_COLUMNS: readonly Column<FormField>[] = [
  { id: "field", head: "Field", cell: (field) => <code>{field.name}</code> },
  { id: "type", head: "Type", cell: (field) => <span className="wrap">{typeOf(field)}</span> },
  { id: "required", head: "Required", cell: (field) => (field.isRequired ? "yes" : <span className="faint">no</span>) },
  { id: "default", head: "Default", show: "middle", cell: (field) => <code>{textOf(field, field.fallback) || "–"}</code> },
  { id: "about", head: "Description", show: "wide", cell: (field) => <span className="soft wrap">{field.hint || "–"}</span> },
];

function Payload({ task }: { task: TaskView }) {
  const fields = useMemo(() => payloadFields(task.payload_schema), [task.payload_schema]);
  return (
    <Card title="Payload" flush>
      <DataTable
        name="Fields of the payload"
        rows={fields ?? []}
        columns={FIELD_COLUMNS}
        rowKey={(field) => field.name}
        empty={<EmptyState sign="list" title={fields === null ? "Its payload has no schema: any JSON is taken." : "It takes no payload."} />}
      />
    </Card>
  );
}

function Policy({ task }: { task: TaskView }) {
  const rows = policyRows(task.default_policy);
  return (
    <Card title="Default policy">
      {rows.length === 0 ? (
        <p className="soft">The handler declares no options; the defaults of Rota hold.</p>
      ) : (
        <Facts of={[...rows, task.supports_exactly_once === true && (["exactly once", "supported"] as const)]} />
      )}
    </Card>
  );
}
