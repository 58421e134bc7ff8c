// Changing a job. Only what is different is sent, and only if nobody changed it meanwhile.
import { useState } from "react";
import { Link, useLocation, useParams } from "wouter";
import { queryClient, spoil, useAsk, useTell } from "../../api/queries.ts";
import type { JobView } from "../../api/schema.gen.ts";
import { Button } from "../../ui/Button.tsx";
import { PageHead } from "../../ui/Card.tsx";
import { Answered, Note } from "../../ui/Notes.tsx";
import { toast } from "../../ui/Toast.tsx";
import { ZONE } from "../../ui/Time.tsx";
import { type JobForm, editOf, fromJob } from "./drafts.ts";
import { JobFormView } from "./JobFormView.tsx";
import "./jobs.css";

export default function EditJobPage() {
  const { id = "" } = useParams<{ id: string }>();
  const job = useAsk("GET /v1/jobs/{job_id}", { path: { job_id: id } }, { staleTime: Infinity });
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
      <Answered asked={job} what="the job">
        {(found) => <Editing key={found.version} job={found} />}
      </Answered>
    </>
  );
}

function Editing({ job }: { job: JobView }) {
  const [, navigate] = useLocation();
  const [start] = useState<JobForm>(() => fromJob(job, ZONE));
  const change = useTell("PATCH /v1/jobs/{job_id}", {
    spoils: ["GET /v1/jobs", "GET /v1/jobs/{job_id}", "GET /v1/jobs/{job_id}/status", "GET /v1/audit"],
    headers: { "If-Match": `"${job.version}"` },
  });
  const isStale = change.error !== null && "code" in change.error && change.error.code === "version_changed";
  const send = async (form: JobForm, payload: unknown) => {
    const edit = editOf(job, form, payload, ZONE);
    if (Object.keys(edit).length === 0) {
      toast("Nothing was different, so nothing was changed.");
      navigate(`/jobs/${job.job_id}`);
      return;
    }
    try {
      await change.mutateAsync({ path: { job_id: job.job_id }, body: edit });
      toast(`${form.name} was changed.`);
      navigate(`/jobs/${job.job_id}`);
    } catch {
      // The form shows it.
    }
  };
  return (
    <>
      {isStale && (
        <Note tone="warn">
          Somebody changed this job while you did.{" "}
          <Button small onClick={() => void spoil(queryClient, "GET /v1/jobs/{job_id}")}>
            Begin again with what it is now
          </Button>
        </Note>
      )}
      {job.graph && <Note>This is a graph. Its steps are written in code or JSON; here one changes when and how it runs.</Note>}
      <JobFormView start={start} payload={job.payload} isNew={false} action="Save" back={`/jobs/${job.job_id}`} busy={change.isPending} error={change.error} send={(form, payload) => void send(form, payload)} />
    </>
  );
}
