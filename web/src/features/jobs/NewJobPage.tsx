// Making a job, one like another, or a run of a task.
import { useState } from "react";
import { Link, useLocation, useSearchParams } from "wouter";
import { useAsk, useTell } from "../../api/queries.ts";
import type { GraphDocument, JobView } from "../../api/schema.gen.ts";
import { taskPath } from "../../lib/url.ts";
import { PageHead } from "../../ui/Card.tsx";
import { Answered } from "../../ui/Notes.tsx";
import { toast } from "../../ui/Toast.tsx";
import { ZONE } from "../../ui/Time.tsx";
import { type JobForm, blank, draftOf, fromJob, fromTask } from "./drafts.ts";
import { JobFormView } from "./JobFormView.tsx";
import "./jobs.css";

export default function NewJobPage() {
  const [params] = useSearchParams();
  const like = params.get("like");
  const kind = params.get("kind");
  const task = useAsk("GET /v1/tasks/{kind}", { path: { kind: kind ?? "" }, query: { window: "1h" } }, { enabled: kind !== null && like === null, staleTime: 60_000 });
  const model = useAsk("GET /v1/jobs/{job_id}", { path: { job_id: like ?? "" } }, { enabled: like !== null });
  return (
    <>
      {kind === null || like !== null ? (
        <PageHead title="New job" trail={<Link href="/jobs">Jobs</Link>} />
      ) : (
        <PageHead title={`Run ${kind}`} trail={<Link href={taskPath(kind)}>{kind}</Link>} />
      )}
      {like === null ? (
        // A task that nobody knows is run with the usual options.
        kind === null || task.error ? (
          <Making like={null} start={kind === null ? null : fromTask(kind, null, ZONE)} />
        ) : (
          <Answered asked={task} what="the task">
            {(found) => <Making like={null} start={fromTask(found.kind, found.default_policy, ZONE)} />}
          </Answered>
        )
      ) : (
        <Answered asked={model} what="the job to copy">
          {(job) => <Making like={job} start={null} />}
        </Answered>
      )}
    </>
  );
}

function Making({ like, start: given }: { like: JobView | null; start: JobForm | null }) {
  const [, navigate] = useLocation();
  const [start] = useState<JobForm>(() => (like ? { ...fromJob(like, ZONE), name: `${like.name} (copy)` } : (given ?? blank(ZONE))));
  const make = useTell("POST /v1/jobs", { spoils: ["GET /v1/jobs"] });
  const send = async (form: JobForm, payload: unknown) => {
    try {
      const made = await make.mutateAsync({ body: { ...draftOf(form, payload, ZONE), ...(like?.graph ? { graph: like.graph as unknown as GraphDocument } : {}) } });
      toast(made.warnings[0] ? `${made.name} was made, but ${made.warnings[0]}.` : `${made.name} was made.`, made.warnings[0] ? "bad" : "good");
      navigate(`/jobs/${made.job_id}`);
    } catch {
      // The form shows it.
    }
  };
  return <JobFormView start={start} payload={like?.payload ?? null} isNew action={given ? "Run" : "Make the job"} back={given ? taskPath(given.kind) : "/jobs"} busy={make.isPending} error={make.error} send={(form, payload) => void send(form, payload)} />;
}
