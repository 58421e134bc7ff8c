// What is expected of a job: one chip per condition, with its state, next check and open incident.
import { Link } from "wouter";
import { useApiQuery } from "../../api/queries.ts";
import type { JobExpectationView } from "../../api/schema.gen.ts";
import { Card } from "../../ui/Card.tsx";
import { QueryView } from "../../ui/Notes.tsx";
import { StatusBadge } from "../../ui/StatusBadge.tsx";
import { Time } from "../../ui/Time.tsx";
import { describeExpectation, sortExpectations } from "./expectations.ts";

export function Expectations({ jobId }: { jobId: string }) {
  const expectations = useApiQuery("GET /v1/jobs/{job_id}/expectations", { path: { job_id: jobId } }, { every: 10_000, on: ["run.ended", "job.changed"], where: ({ job_id }) => job_id === jobId, keepPrevious: true });
  if (expectations.data?.data.length === 0) return null;
  return (
    <Card title="Expectations" aside={<Link href="/alerts?tab=rules">Rules</Link>}>
      <QueryView query={expectations} what="expectations">
        {({ data }) => (
          <ul className="expectations">
            {sortExpectations(data).map((each) => (
              <Chip key={each.expectation_id} expectation={each} />
            ))}
          </ul>
        )}
      </QueryView>
    </Card>
  );
}

function Chip({ expectation }: { expectation: JobExpectationView }) {
  return (
    <li className="expectation">
      <StatusBadge status={`expectation_${expectation.state}`} />
      <span className="wrap">{describeExpectation(expectation)}</span>
      {expectation.incident_id ? (
        <Link href={`/alerts/${expectation.incident_id}`}>Open incident</Link>
      ) : (
        expectation.next_check_at && (
          <span className="faint">
            next check <Time at={expectation.next_check_at} as="relative" />
          </span>
        )
      )}
      {expectation.origin !== "job" && <span className="faint">{expectation.origin === "rule" ? `rule ${expectation.name}` : "default"}</span>}
    </li>
  );
}
