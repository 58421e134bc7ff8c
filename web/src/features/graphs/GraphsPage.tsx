// All graphs: jobs whose runs unfold into steps, with how the last ones went.
import { useMemo } from "react";
import { Link } from "wouter";
import { usePages } from "../../api/queries.ts";
import type { JobView, RunView } from "../../api/schema.gen.ts";
import { Card, PageHead } from "../../ui/Card.tsx";
import { type Column, DataTable } from "../../ui/DataTable.tsx";
import { EmptyState, ErrorNote, Loading } from "../../ui/Notes.tsx";
import { StateBadge } from "../../ui/State.tsx";
import { Duration, Time } from "../../ui/Time.tsx";

const JOBS: readonly Column<JobView>[] = [
  {
    id: "name",
    head: "Graph",
    cell: (job) => (
      <Link href={`/graphs/${job.job_id}`} className="table-main wrap">
        {job.name}
      </Link>
    ),
  },
  { id: "state", head: "State", cell: (job) => <StateBadge state={job.status} /> },
  { id: "next", head: "Next", show: "middle", cell: (job) => <Time at={job.next_run_at} as="relative" /> },
  { id: "job", head: "", num: true, cell: (job) => <Link href={`/jobs/${job.job_id}`}>The job</Link> },
];

const RUNS: readonly Column<RunView>[] = [
  {
    id: "job",
    head: "Graph run",
    cell: (run) => (
      <Link href={`/graphs/${run.run_id}`} className="table-main wrap">
        {run.job_name ?? run.run_id}
      </Link>
    ),
  },
  { id: "state", head: "State", cell: (run) => <StateBadge state={run.status} /> },
  { id: "due", head: "Due", show: "middle", cell: (run) => <Time at={run.due_at} as="relative" /> },
  { id: "took", head: "Took", num: true, cell: (run) => <Duration start={run.start_time} end={run.end_time} /> },
  { id: "why", head: "Why", show: "middle", cell: (run) => <span className="soft wrap">{run.error_message ?? "–"}</span> },
];

export default function GraphsPage() {
  const jobs = usePages("GET /v1/jobs", { query: { kind: "graph", limit: 100 } }, { on: ["job.changed"], every: 30_000, keep: true });
  const runs = usePages("GET /v1/runs", { query: { kind: "graph", limit: 50 } }, { on: ["run.made", "run.started", "run.ended"], every: 15_000, keep: true });
  const whole = useMemo(() => runs.rows.filter((run) => run.step === null), [runs.rows]);
  return (
    <>
      <PageHead title="Graphs" about="Jobs that are made of steps, each after the steps that it needs." />
      <Card flush>
        {jobs.error && <ErrorNote error={jobs.error} retry={jobs.again} />}
        {jobs.isPending && !jobs.error ? (
          <Loading what="the graphs" />
        ) : (
          <DataTable
            name="Graphs"
            rows={jobs.rows}
            columns={JOBS}
            rowKey={(job) => job.job_id}
            href={(job) => `/graphs/${job.job_id}`}
            more={jobs}
            keys
            empty={
              <EmptyState sign="graph" title="There is no graph yet.">
                A graph is a job with steps: write one with <code>@app.graph</code> in Python, or with <code>kind: graph</code> in rota.yaml.
              </EmptyState>
            }
          />
        )}
      </Card>
      <Card flush title="Lately">
        {runs.error && <ErrorNote error={runs.error} retry={runs.again} />}
        <DataTable
          name="Graph runs"
          rows={whole}
          columns={RUNS}
          rowKey={(run) => run.run_id}
          href={(run) => `/graphs/${run.run_id}`}
          more={runs}
          empty={
            <EmptyState sign="clock" title="No graph has run yet.">
              Run one from the page of its job.
            </EmptyState>
          }
        />
      </Card>
    </>
  );
}
