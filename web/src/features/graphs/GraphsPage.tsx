// The list of graphs (jobs with steps), and their recent runs.
import { useMemo } from "react";
import { Link } from "wouter";
import { usePagedQuery } from "../../api/queries.ts";
import type { JobView, RunView } from "../../api/schema.gen.ts";
import { Card, PageHead } from "../../ui/Card.tsx";
import { type Column, DataTable } from "../../ui/DataTable.tsx";
import { EmptyState, ErrorNote, Loading } from "../../ui/Notes.tsx";
import { StatusBadge } from "../../ui/StatusBadge.tsx";
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
  { id: "state", head: "Status", cell: (job) => <StatusBadge status={job.status} /> },
  { id: "next", head: "Next run", show: "middle", cell: (job) => <Time at={job.next_run_at} as="relative" /> },
  { id: "job", head: "", num: true, cell: (job) => <Link href={`/jobs/${job.job_id}`}>Open job</Link> },
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
  { id: "state", head: "Status", cell: (run) => <StatusBadge status={run.status} /> },
  { id: "due", head: "Due", show: "middle", cell: (run) => <Time at={run.due_at} as="relative" /> },
  { id: "took", head: "Duration", num: true, cell: (run) => <Duration start={run.start_time} end={run.end_time} /> },
  { id: "why", head: "Reason", show: "middle", cell: (run) => <span className="soft wrap">{run.error_message ?? "–"}</span> },
];

export default function GraphsPage() {
  const jobs = usePagedQuery("GET /v1/jobs", { query: { kind: "graph", limit: 100 } }, { on: ["job.changed"], every: 30_000, keepPrevious: true });
  const runs = usePagedQuery("GET /v1/runs", { query: { kind: "graph", limit: 50 } }, { on: ["run.made", "run.started", "run.ended"], every: 15_000, keepPrevious: true });
  const whole = useMemo(() => runs.rows.filter((run) => run.step === null), [runs.rows]);
  return (
    <>
      <PageHead title="Graphs" about="Jobs made of steps with dependencies." />
      <Card flush>
        {jobs.error && <ErrorNote error={jobs.error} retry={jobs.refetch} />}
        {jobs.isPending && !jobs.error ? (
          <Loading what="graphs" />
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
              <EmptyState icon="graph" title="No graphs yet">
                A graph is a job with steps. Define one with <code>@app.graph</code> in Python, or with <code>kind: graph</code> in rota.yaml.
              </EmptyState>
            }
          />
        )}
      </Card>
      <Card flush title="Recent runs">
        {runs.error && <ErrorNote error={runs.error} retry={runs.refetch} />}
        <DataTable
          name="Graph runs"
          rows={whole}
          columns={RUNS}
          rowKey={(run) => run.run_id}
          href={(run) => `/graphs/${run.run_id}`}
          more={runs}
          empty={
            <EmptyState icon="clock" title="No graph runs yet">
              Run a graph from its job's page.
            </EmptyState>
          }
        />
      </Card>
    </>
  );
}
