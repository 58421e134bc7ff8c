// The overview of a one-time submission: what it was given, who submitted it, and its runs.
import { Link } from "wouter";
import { useAsk } from "../../api/queries.ts";
import type { JobView } from "../../api/schema.gen.ts";
import { link } from "../../lib/url.ts";
import { Card, Facts } from "../../ui/Card.tsx";
import { JsonView } from "../../ui/Json.tsx";
import { Time } from "../../ui/Time.tsx";
import { JobRuns } from "./JobRuns.tsx";
import { Labels } from "./Standing.tsx";

export function Submission({ job }: { job: JobView }) {
  const status = useAsk("GET /v1/jobs/{job_id}/status", { path: { job_id: job.job_id } }, { on: ["run.made", "run.started", "run.ended"], where: ({ job_id }) => job_id === job.job_id, every: 15_000, keep: true });
  const latest = status.data?.latest_run ?? null;
  return (
    <>
      <div className="grid-2">
        <Card title="About">
          <Facts
            of={[
              ["Kind", job.kind],
              ["Queue", <Link key="queue" href={link("/queues", {})}>{job.queue}</Link>],
              ["Due", job.next_run_at === null ? "It is due." : <Time key="due" at={job.next_run_at} />],
              latest !== null && ["Run", <Link key="run" href={`/runs/${latest.run_id}`}>{latest.status}</Link>],
              ["Labels", Object.keys(job.labels).length === 0 ? "none" : <Labels key="labels" of={job.labels} />],
              job.user_id !== null && ["User", job.user_id],
              ["Submitted", <Time key="made" at={job.created_at} />],
            ]}
          />
        </Card>
        <Card title="Payload">
          <JsonView value={job.payload} name="the payload" />
        </Card>
      </div>
      <JobRuns job={job} />
    </>
  );
}
