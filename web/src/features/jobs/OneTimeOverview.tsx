// The overview tab of a one-time submission: details, payload and runs.
import { Link } from "wouter";
import { useApiQuery } from "../../api/queries.ts";
import type { JobView } from "../../api/schema.gen.ts";
import { linkTo } from "../../lib/url.ts";
import { Card, Facts } from "../../ui/Card.tsx";
import { JsonView } from "../../ui/JsonView.tsx";
import { Time } from "../../ui/Time.tsx";
import { JobRuns } from "./JobRuns.tsx";
import { Labels } from "./JobOverview.tsx";

export function OneTimeOverview({ job }: { job: JobView }) {
  const status = useApiQuery("GET /v1/jobs/{job_id}/status", { path: { job_id: job.job_id } }, { on: ["run.made", "run.started", "run.ended"], where: ({ job_id }) => job_id === job.job_id, every: 15_000, keepPrevious: true });
  const latest = status.data?.latest_run ?? null;
  return (
    <>
      <div className="grid-2">
        <Card title="Details">
          <Facts
            of={[
              ["Kind", job.kind],
              ["Queue", <Link key="queue" href={linkTo("/queues", {})}>{job.queue}</Link>],
              ["Due", job.next_run_at === null ? "now" : <Time key="due" at={job.next_run_at} />],
              latest !== null && ["Run", <Link key="run" href={`/runs/${latest.run_id}`}>{latest.status}</Link>],
              ["Labels", Object.keys(job.labels).length === 0 ? "none" : <Labels key="labels" of={job.labels} />],
              job.user_id !== null && ["User id", job.user_id],
              ["Submitted", <Time key="submitted" at={job.created_at} as="relative" />],
            ]}
          />
        </Card>
        <Card title="Payload">
          <JsonView value={job.payload} name="payload" />
        </Card>
      </div>
      <JobRuns job={job} />
    </>
  );
}
