// The jobs of a group of dead letters: those with the most failures, and the number of others.
import { Link } from "wouter";
import type { DeadGroupView } from "../../api/schema.gen.ts";
import { formatCount } from "../../lib/figures.ts";

export function Jobs({ of: group, limit = 5 }: { of: Pick<DeadGroupView, "jobs" | "job_count">; limit?: number }) {
  const shown = group.jobs.slice(0, limit);
  const more = group.job_count - shown.length;
  return (
    <span className="wrap">
      {shown.map((job, place) => (
        <span key={job.job_id ?? "one-time"}>
          {place > 0 && ", "}
          {job.job_id ? <Link href={`/jobs/${job.job_id}`}>{job.job_name ?? job.job_id}</Link> : "one-time runs"}
        </span>
      ))}
      {more > 0 && <span className="soft"> and {formatCount(more, "more", "more")}</span>}
    </span>
  );
}
