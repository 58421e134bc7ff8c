// All that a job says, to read; the edit page is where it is changed.
import { JOB_FIELDS } from "../../api/job_fields.gen.ts";
import type { JobView } from "../../api/schema.gen.ts";
import { useMay } from "../../api/session.ts";
import { length, seconds } from "../../lib/time.ts";
import { fieldLabel } from "../../lib/words.ts";
import { ButtonLink } from "../../ui/Button.tsx";
import { Card, Facts } from "../../ui/Card.tsx";
import { JsonView } from "../../ui/Json.tsx";

export function Settings({ job }: { job: JobView }) {
  const mayEdit = useMay("PATCH /v1/jobs/{job_id}");
  return (
    <div className="grid-2">
      <Card
        title="How it runs"
        aside={
          mayEdit && (
            <ButtonLink small sign="edit" href={`/jobs/${job.job_id}/edit`}>
              Edit
            </ButtonLink>
          )
        }
      >
        <Facts
          of={[
            ["Kind", job.kind],
            ["Queue", job.queue],
            ["Priority", `${job.priority} (0 goes first, 9 last)`],
            ["If one is alive", OVERLAPS[job.overlap] ?? job.overlap],
            ["If its queue is paused", job.when_queue_paused === "accumulate" ? "its runs wait for it" : "that time is skipped"],
            ["Guarantee", job.guarantee.replaceAll("_", " ")],
            ["An attempt may take", spoken(job.timeout) ?? "any time"],
            ["A run may take", spoken(job.deadline) ?? "any time"],
            ["Grace to stop", spoken(job.grace) ?? "none"],
            ["Retries", retries(job)],
            ["Depends on", job.target ?? "what its kind tells, if it does"],
            ...others(job),
            ["Limits", job.limits.length === 0 ? "none" : <JsonView key="limits" value={job.limits} name="the limits" />],
          ]}
        />
      </Card>
      <Card title="When it runs">{job.schedule ? <JsonView value={job.schedule} name="the schedule" /> : <p className="soft">It has no schedule.</p>}</Card>
    </div>
  );
}

/** The fields of the contract that have no words of their own on this page. */
function others(job: JobView): [string, string][] {
  return JOB_FIELDS.filter(({ name }) => !WORDED.has(name)).map(({ name }) => [fieldLabel(name), String(job[name] ?? "none")]);
}

const WORDED = new Set<string>(["retries", "timeout", "deadline", "guarantee", "target", "queue", "priority", "overlap", "when_queue_paused"]);

const OVERLAPS: Record<string, string> = {
  skip: "the new one is skipped",
  queue_one: "one waits for it",
  queue_all: "all wait in line",
  cancel_running: "it is cancelled",
  terminate_running: "it is ended by force",
  allow: "they run side by side",
};

function spoken(iso: string | null): string | null {
  if (iso === null) return null;
  const span = seconds(iso);
  return span === null ? iso : length(span);
}

function retries(job: JobView): string {
  const kind = typeof job.retries["kind"] === "string" ? job.retries["kind"] : "";
  const base = typeof job.retries["base"] === "string" ? spoken(job.retries["base"]) : null;
  if (job.max_retries === 0) return "none";
  return `${job.max_retries}, ${kind}${base && kind !== "list" ? ` from ${base}` : ""}`;
}
