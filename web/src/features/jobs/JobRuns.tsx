// The runs of one job.
import { Link, useSearchParams } from "wouter";
import { usePagedQuery } from "../../api/queries.ts";
import type { JobView, RunView } from "../../api/schema.gen.ts";
import { linkTo } from "../../lib/url.ts";
import { triggerLabel } from "../../lib/words.ts";
import { Card } from "../../ui/Card.tsx";
import { type Column, DataTable } from "../../ui/DataTable.tsx";
import { EmptyState, ErrorNote, Loading } from "../../ui/Notes.tsx";
import { StatusBadge } from "../../ui/StatusBadge.tsx";
import { Duration, Time } from "../../ui/Time.tsx";
import { reasonOf } from "./model.ts";

const COLUMNS: readonly Column<RunView>[] = [
  {
    id: "scheduled",
    head: "Scheduled",
    cell: (run) => (
      <Link href={`/runs/${run.run_id}`} className="table-main">
        <Time at={run.scheduled_at} as="relative" />
      </Link>
    ),
  },
  { id: "state", head: "Status", cell: (run) => <StatusBadge status={run.status} /> },
  { id: "took", head: "Duration", num: true, cell: (run) => <Duration start={run.start_time} end={run.end_time} /> },
  { id: "attempt", head: "Attempt", num: true, show: "middle", cell: (run) => run.attempt_number || "–" },
  { id: "trigger", head: "Trigger", show: "middle", cell: (run) => <span className="soft">{triggerLabel(run.trigger)}</span> },
  { id: "why", head: "Reason", show: "wide", cell: (run) => <span className="soft wrap">{reasonOf(run) || "–"}</span> },
];

export function JobRuns({ job }: { job: JobView }) {
  const [params] = useSearchParams();
  const runs = usePagedQuery("GET /v1/jobs/{job_id}/runs", { path: { job_id: job.job_id }, query: { limit: 100 } }, { on: ["run.made", "run.started", "run.ended"], where: ({ job_id }) => job_id === job.job_id, keepPrevious: true });
  return (
    <Card flush aside={<Link href={linkTo("/runs", { job_id: job.job_id, status: params.getAll("status") })}>Open in run list</Link>}>
      {runs.error && <ErrorNote error={runs.error} retry={runs.refetch} />}
      {runs.isPending && !runs.error ? (
        <Loading what="runs" />
      ) : (
        <DataTable
          name={`Runs of ${job.name}`}
          rows={runs.rows}
          columns={COLUMNS}
          rowKey={(run) => run.run_id}
          href={(run) => `/runs/${run.run_id}`}
          more={runs}
          keys
          empty={
            <EmptyState icon="clock" title="No runs yet">
              Run the job now, or wait for its next run.
            </EmptyState>
          }
        />
      )}
    </Card>
  );
}
