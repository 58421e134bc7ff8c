// Edits a job. Sends only the changed fields, and only if the job has not changed meanwhile.
import { useState } from "react";
import { Link, useLocation, useParams } from "wouter";
import { queryClient, invalidateOperation, useApiQuery, useApiMutation } from "../../api/queries.ts";
import type { JobView } from "../../api/schema.gen.ts";
import { Button } from "../../ui/Button.tsx";
import { PageHead } from "../../ui/Card.tsx";
import { QueryView, Note } from "../../ui/Notes.tsx";
import { toast } from "../../ui/Toast.tsx";
import { ZONE } from "../../ui/Time.tsx";
import { type JobForm, editOf, fromJob } from "./drafts.ts";
import { JobFormView } from "./JobFormView.tsx";
import "./jobs.css";

export default function EditJobPage() {
  const { id = "" } = useParams<{ id: string }>();
  const job = useApiQuery("GET /v1/jobs/{job_id}", { path: { job_id: id } }, { staleTime: Infinity });
  return (
    <>
      <PageHead
        title={job.data ? `Edit ${job.data.name}` : "Edit job"}
        trail={
          <>
            <Link href="/jobs">Jobs</Link>
            {job.data && (
              <>
                {" / "}
                <Link href={`/jobs/${id}`}>{job.data.name}</Link>
              </>
            )}
          </>
        }
      />
      <QueryView query={job} what="job">
        {(found) => <EditForm key={found.version} job={found} />}
      </QueryView>
    </>
  );
}

function EditForm({ job }: { job: JobView }) {
  const [, navigate] = useLocation();
  const [start] = useState<JobForm>(() => fromJob(job, ZONE));
  const change = useApiMutation("PATCH /v1/jobs/{job_id}", {
    invalidates: ["GET /v1/jobs", "GET /v1/jobs/{job_id}", "GET /v1/jobs/{job_id}/status", "GET /v1/audit"],
    headers: { "If-Match": `"${job.version}"` },
  });
  const isStale = change.error !== null && "code" in change.error && change.error.code === "version_changed";
  const send = async (form: JobForm, payload: unknown) => {
    const edit = editOf(job, form, payload, ZONE);
    if (Object.keys(edit).length === 0) {
      toast("No changes to save");
      navigate(`/jobs/${job.job_id}`);
      return;
    }
    try {
      await change.mutateAsync({ path: { job_id: job.job_id }, body: edit });
      toast(`Saved ${form.name}`);
      navigate(`/jobs/${job.job_id}`);
    } catch {
      // The form shows the error.
    }
  };
  return (
    <>
      {isStale && (
        <Note tone="warn">
          This job has changed since you opened it.{" "}
          <Button small onClick={() => void invalidateOperation(queryClient, "GET /v1/jobs/{job_id}")}>
            Reload the current version
          </Button>
        </Note>
      )}
      {job.graph && <Note>This job is a graph. Edit its steps in code or JSON; this form changes its schedule and options.</Note>}
      <JobFormView start={start} payload={job.payload} isNew={false} action="Save" back={`/jobs/${job.job_id}`} busy={change.isPending} error={change.error} send={(form, payload) => void send(form, payload)} />
    </>
  );
}
