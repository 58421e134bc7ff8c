// The settings of a job, read-only; the edit page changes them.
import type { ReactNode } from "react";
import { JOB_FIELDS } from "../../api/job_fields.gen.ts";
import type { JobView } from "../../api/schema.gen.ts";
import { useMay } from "../../api/session.ts";
import { formatDuration, parseIsoDuration } from "../../lib/time.ts";
import { fieldLabel } from "../../lib/words.ts";
import { ButtonLink } from "../../ui/Button.tsx";
import { Card, Facts } from "../../ui/Card.tsx";
import { JsonView } from "../../ui/JsonView.tsx";

export function Settings({ job }: { job: JobView }) {
  const mayEdit = useMay("PATCH /v1/jobs/{job_id}");
  return (
    <div className="grid-2">
      <Card
        title="Options"
        aside={
          mayEdit && (
            <ButtonLink small icon="edit" href={`/jobs/${job.job_id}/edit`}>
              Edit
            </ButtonLink>
          )
        }
      >
        <Facts
          of={[
            ["Kind", job.kind],
            ["Queue", job.queue],
            ["Priority", `${job.priority} (0 is highest, 9 is lowest)`],
            ["If the previous run is active", OVERLAPS[job.overlap] ?? job.overlap],
            ["If the queue is paused", job.when_queue_paused === "accumulate" ? "accumulate runs until the queue resumes" : "skip the tick"],
            ["Guarantee", job.guarantee.replaceAll("_", " ")],
            ["Attempt timeout", formatIsoDuration(job.timeout) ?? "no limit"],
            ["Run deadline", formatIsoDuration(job.deadline) ?? "no limit"],
            ["Grace period", formatIsoDuration(job.grace) ?? "none"],
            ["Retries", describeRetries(job)],
            ["Target", job.target ?? "default for this kind"],
            ...otherFields(job),
            ["Limits", job.limits.length === 0 ? "none" : <JsonView key="limits" value={job.limits} name="limits" />],
          ]}
        />
      </Card>
      <Card title="Schedule">{job.schedule ? <JsonView value={job.schedule} name="schedule" /> : <p className="soft">No schedule</p>}</Card>
    </div>
  );
}

/** The remaining fields of the contract. */
function otherFields(job: JobView): [string, ReactNode][] {
  return JOB_FIELDS.filter(({ name }) => !SHOWN_ABOVE.has(name)).map((field) => [fieldLabel(field.name), field.kind === "document" && job[field.name] ? <JsonView key={field.name} value={job[field.name]} name={field.name} /> : String(job[field.name] ?? "none")]);
}

const SHOWN_ABOVE = new Set<string>(["retries", "timeout", "deadline", "guarantee", "target", "queue", "priority", "overlap", "when_queue_paused"]);

const OVERLAPS: Record<string, string> = {
  skip: "skip the new run",
  queue_one: "queue one run",
  queue_all: "queue every run",
  cancel_running: "cancel the active run",
  terminate_running: "terminate the active run",
  allow: "run in parallel",
};

function formatIsoDuration(iso: string | null): string | null {
  if (iso === null) return null;
  const span = parseIsoDuration(iso);
  return span === null ? iso : formatDuration(span);
}

function describeRetries(job: JobView): string {
  const kind = typeof job.retries["kind"] === "string" ? job.retries["kind"] : "";
  const base = typeof job.retries["base"] === "string" ? formatIsoDuration(job.retries["base"]) : null;
  if (job.max_retries === 0) return "none";
  return `${job.max_retries}, ${kind}${base && kind !== "list" ? ` from ${base}` : ""}`;
}
