// Making a job, or one like another.
import { useState } from "react";
import { Link, useLocation, useSearchParams } from "wouter";
import { useAsk, useTell } from "../../api/queries.ts";
import type { JobView } from "../../api/schema.gen.ts";
import { PageHead } from "../../ui/Card.tsx";
import { Answered } from "../../ui/Notes.tsx";
import { toast } from "../../ui/Toast.tsx";
import { ZONE } from "../../ui/Time.tsx";
import { type JobForm, blank, draftOf, fromJob } from "./drafts.ts";
import { JobFormView } from "./JobFormView.tsx";
import "./jobs.css";

export default function NewJobPage() {
  const [params] = useSearchParams();
  const like = params.get("like");
  const model = useAsk("GET /v1/jobs/{job_id}", { path: { job_id: like ?? "" } }, { enabled: like !== null });
  return (
    <>
      <PageHead title="New job" trail={<Link href="/jobs">Jobs</Link>} />
      {like === null ? (
        <Making like={null} />
      ) : (
        <Answered asked={model} what="the job to copy">
          {(job) => <Making like={job} />}
        </Answered>
      )}
    </>
  );
}

function Making({ like }: { like: JobView | null }) {
  const [, navigate] = useLocation();
  const [start] = useState<JobForm>(() => (like ? { ...fromJob(like, ZONE), name: `${like.name} (copy)` } : blank(ZONE)));
  const make = useTell("POST /v1/jobs", { spoils: ["GET /v1/jobs"] });
  const send = async (form: JobForm, payload: unknown) => {
    try {
      const made = await make.mutateAsync({ body: { ...draftOf(form, payload, ZONE), ...(like?.graph ? { graph: like.graph } : {}) } });
      toast(made.warnings[0] ? `${made.name} was made, but ${made.warnings[0]}.` : `${made.name} was made.`, made.warnings[0] ? "bad" : "good");
      navigate(`/jobs/${made.job_id}`);
    } catch {
      // The form shows it.
    }
  };
  return <JobFormView start={start} payload={like?.payload ?? null} isNew action="Make the job" back="/jobs" busy={make.isPending} error={make.error} send={(form, payload) => void send(form, payload)} />;
}
