// Creates a job, duplicates a job, or runs a task.
import { useState } from "react";
import { Link, useLocation, useSearchParams } from "wouter";
import { useApiQuery, useApiMutation } from "../../api/queries.ts";
import type { GraphDocument, JobView } from "../../api/schema.gen.ts";
import { taskPath } from "../../lib/url.ts";
import { PageHead } from "../../ui/Card.tsx";
import { QueryView } from "../../ui/Notes.tsx";
import { toast } from "../../ui/Toast.tsx";
import { ZONE } from "../../ui/Time.tsx";
import { type JobForm, blankForm, draftOf, fromJob, fromTask } from "./drafts.ts";
import { JobFormView } from "./JobFormView.tsx";
import "./jobs.css";

export default function NewJobPage() {
  const [params] = useSearchParams();
  const like = params.get("like");
  const kind = params.get("kind");
  const task = useApiQuery("GET /v1/tasks/{kind}", { path: { kind: kind ?? "" }, query: { window: "1h" } }, { enabled: kind !== null && like === null, staleTime: 60_000 });
  const model = useApiQuery("GET /v1/jobs/{job_id}", { path: { job_id: like ?? "" } }, { enabled: like !== null });
  return (
    <>
      {kind === null || like !== null ? (
        <PageHead title="New job" trail={<Link href="/jobs">Jobs</Link>} />
      ) : (
        <PageHead title={`Run ${kind}`} trail={<Link href={taskPath(kind)}>{kind}</Link>} />
      )}
      {like === null ? (
        // An unknown task is run with default options.
        kind === null || task.error ? (
          <CreateForm like={null} start={kind === null ? null : fromTask(kind, null, ZONE)} />
        ) : (
          <QueryView query={task} what="task">
            {(found) => <CreateForm like={null} start={fromTask(found.kind, found.default_policy, ZONE)} />}
          </QueryView>
        )
      ) : (
        <QueryView query={model} what="job to duplicate">
          {(job) => <CreateForm like={job} start={null} />}
        </QueryView>
      )}
    </>
  );
}

function CreateForm({ like, start: given }: { like: JobView | null; start: JobForm | null }) {
  const [, navigate] = useLocation();
  const [start] = useState<JobForm>(() => (like ? { ...fromJob(like, ZONE), name: `${like.name} (copy)` } : (given ?? blankForm(ZONE))));
  const create = useApiMutation("POST /v1/jobs", { invalidates: ["GET /v1/jobs"] });
  const send = async (form: JobForm, payload: unknown) => {
    try {
      const created = await create.mutateAsync({ body: { ...draftOf(form, payload, ZONE), ...(like?.graph ? { graph: like.graph as unknown as GraphDocument } : {}) } });
      toast(created.warnings[0] ? `Created ${created.name}. Warning: ${created.warnings[0]}` : `Created ${created.name}`, created.warnings[0] ? "bad" : "good");
      navigate(`/jobs/${created.job_id}`);
    } catch {
      // The form shows the error.
    }
  };
  return <JobFormView start={start} payload={like?.payload ?? null} isNew action={given ? "Run" : "Create job"} back={given ? taskPath(given.kind) : "/jobs"} busy={create.isPending} error={create.error} send={(form, payload) => void send(form, payload)} />;
}
