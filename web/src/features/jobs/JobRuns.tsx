// The runs of one job.
import { Link, useSearchParams } from "wouter";
import { usePages } from "../../api/queries.ts";
import type { JobView, RunView } from "../../api/schema.gen.ts";
import { link } from "../../lib/url.ts";
import { Card } from "../../ui/Card.tsx";
import { type Column, DataTable } from "../../ui/DataTable.tsx";
import { EmptyState, ErrorNote, Loading } from "../../ui/Notes.tsx";
import { StateBadge } from "../../ui/State.tsx";
import { Duration, Time } from "../../ui/Time.tsx";
import { reasonOf } from "./model.ts";

const COLUMNS: readonly Column<RunView>[] = [
  {
    id: "scheduled",
    head: "Scheduled",
    cell: (run) => (
      <Link href={`/runs/${run.run_id}`} className="table-main">
        <Time at={run.scheduled_at} />
      </Link>
    ),
  },
  { id: "state", head: "State", cell: (run) => <StateBadge state={run.status} /> },
  { id: "took", head: "Took", num: true, cell: (run) => <Duration start={run.start_time} end={run.end_time} /> },
  { id: "attempt", head: "Attempt", num: true, show: "middle", cell: (run) => run.attempt_number || "–" },
  { id: "trigger", head: "By", show: "middle", cell: (run) => <span className="soft">{run.trigger}</span> },
  { id: "why", head: "Why", show: "wide", cell: (run) => <span className="soft wrap">{reasonOf(run) || "–"}</span> },
];

export function JobRuns({ job }: { job: JobView }) {
  const [params] = useSearchParams();
  const runs = usePages("GET /v1/jobs/{job_id}/runs", { path: { job_id: job.job_id }, query: { limit: 100 } }, { on: ["run.made", "run.started", "run.ended"], where: ({ job_id }) => job_id === job.job_id, keep: true });
  return (
    <Card flush aside={<Link href={link("/runs", { job_id: job.job_id, status: params.getAll("status") })}>Filter in the list of runs</Link>}>
      {runs.error && <ErrorNote error={runs.error} retry={runs.again} />}
      {runs.isPending && !runs.error ? (
        <Loading what="its runs" />
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
            <EmptyState sign="clock" title="It has not run yet.">
              Run it now, or wait for its next time.
            </EmptyState>
          }
        />
      )}
    </Card>
  );
}
