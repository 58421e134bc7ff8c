// The actions of a job. Each is a dialog that stays open with the reason if the API refuses the action.
import { useState } from "react";
import { useLocation } from "wouter";
import { useApiMutation } from "../../api/queries.ts";
import type { JobView } from "../../api/schema.gen.ts";
import { may } from "../../api/session.ts";
import type { Schema } from "../../lib/schema.ts";
import { ConfirmDialog, FormDialog } from "../../ui/Dialog.tsx";
import { ChoiceField, SelectField, TextField } from "../../ui/Fields.tsx";
import type { Item } from "../../ui/Menu.tsx";
import { Loading, Note } from "../../ui/Notes.tsx";
import { PayloadForm, usePayload } from "../../ui/PayloadForm.tsx";
import { toast } from "../../ui/Toast.tsx";
import { BackfillDialog } from "./BackfillDialog.tsx";
import { usePayloadSchema } from "./kinds.ts";
import { isOneTime } from "./model.ts";

export type Action = "run" | "pause" | "resume" | "delete" | "backfill";

const SPOILS = ["GET /v1/jobs", "GET /v1/jobs/{job_id}", "GET /v1/jobs/{job_id}/status", "GET /v1/jobs/{job_id}/runs"] as const;

/** The actions that the session may take on the job in its current status. */
export function itemsFor(job: JobView, act: (action: Action) => void, go: (path: string) => void): Item[] {
  const items: Item[] = [];
  if (may("POST /v1/jobs/{job_id}/runNow")) items.push({ label: "Run now", icon: "play", act: () => act("run") });
  const once = isOneTime(job);
  if (may("POST /v1/jobs/{job_id}/pause") && !once) {
    if (job.status === "paused" || job.status === "quarantined") items.push({ label: "Resume", icon: "play", act: () => act("resume") });
    else items.push({ label: "Pause", icon: "pause", disabled: job.status === "finished", act: () => act("pause") });
  }
  if (may("PATCH /v1/jobs/{job_id}")) {
    items.push({ label: "Edit", icon: "edit", act: () => go(`/jobs/${job.job_id}/edit`) });
    items.push({ label: "Duplicate", icon: "copy", act: () => go(`/jobs/new?like=${job.job_id}`) });
  }
  if (may("POST /v1/jobs/{job_id}/backfills") && !once) items.push({ label: "Backfill", icon: "history", disabled: !job.schedule, act: () => act("backfill") });
  if (may("DELETE /v1/jobs/{job_id}")) items.push({ label: once ? "Cancel run" : "Delete", icon: "trash", danger: true, act: () => act("delete") });
  return items;
}

/** The dialog of the open action, if any. */
export function ActionDialog({ job, action, close }: { job: JobView; action: Action | null; close: () => void }) {
  switch (action) {
    case "run":
      return <RunNow job={job} close={close} />;
    case "pause":
      return <Pause job={job} close={close} />;
    case "resume":
      return <Resume job={job} close={close} />;
    case "delete":
      return <Delete job={job} close={close} />;
    case "backfill":
      return <BackfillDialog job={job} close={close} />;
    case null:
      return null;
  }
}

interface DialogProps {
  job: JobView;
  close: () => void;
}

function RunNow({ job, close }: DialogProps) {
  const schema = usePayloadSchema(job.kind);
  if (schema === undefined) {
    return (
      <FormDialog title={`Run ${job.name} now`} action="Run now" act={close} disabled close={close}>
        <Loading what="payload schema" />
      </FormDialog>
    );
  }
  return <RunNowForm job={job} close={close} schema={schema} />;
}

const OVERLAPS = [
  { value: "", label: "Job default" },
  { value: "allow", label: "Run in parallel" },
  { value: "queue_all", label: "Run after it" },
  { value: "skip", label: "Skip this run" },
  { value: "cancel_running", label: "Cancel the active run" },
] as const;

function RunNowForm({ job, close, schema }: DialogProps & { schema: Schema | null }) {
  const [, navigate] = useLocation();
  const [priority, setPriority] = useState("");
  const [overlap, setOverlap] = useState("");
  const payload = usePayload(schema, job.payload);
  const run = useApiMutation("POST /v1/jobs/{job_id}/runNow", { invalidates: SPOILS });
  const act = async () => {
    const isUnchanged = JSON.stringify(payload.value) === JSON.stringify(job.payload ?? null);
    const body = {
      ...(isUnchanged ? {} : { payload: payload.value }),
      ...(priority ? { priority: priority as "high" } : {}),
      ...(overlap ? { overlap: overlap as "allow" } : {}),
    };
    try {
      const created = await run.mutateAsync({ path: { job_id: job.job_id }, body });
      if (created.refused) toast(`Not run: ${created.refused.replaceAll("_", " ")}`, "bad");
      else toast(`Created a run of ${job.name}`);
      close();
      navigate(`/runs/${created.run_id}`);
    } catch {
      // The dialog shows the error.
    }
  };
  return (
    <FormDialog title={`Run ${job.name} now`} action="Run now" act={() => void act()} close={close} busy={run.isPending} error={run.error} disabled={payload.error !== null} wide>
      {job.status === "paused" && <Note tone="warn">The job is paused. It runs once now and stays paused.</Note>}
      <PayloadForm payload={payload} hint="Changes apply to this run only. Default: the job's payload." />
      <div className="grid-2">
        <SelectField label="Priority" value={priority} change={setPriority} options={[{ value: "", label: "Job default" }, "high", "normal", "low"]} />
        <SelectField label="If the previous run is active" value={overlap} change={setOverlap} options={OVERLAPS} />
      </div>
    </FormDialog>
  );
}

function Pause({ job, close }: DialogProps) {
  const [reason, setReason] = useState("");
  const pause = useApiMutation("POST /v1/jobs/{job_id}/pause", { invalidates: SPOILS });
  const act = () =>
    pause.mutate(
      { path: { job_id: job.job_id }, body: reason ? { reason } : {} },
      {
        onSuccess: () => {
          toast(`Paused ${job.name}`);
          close();
        },
      },
    );
  return (
    <FormDialog title={`Pause ${job.name}`} action="Pause" act={act} close={close} busy={pause.isPending} error={pause.error}>
      <p>Stops the schedule until resumed. Current runs continue.</p>
      <TextField label="Reason (optional)" hint="Shown on the job's page." value={reason} change={setReason} maxLength={1000} autoFocus />
    </FormDialog>
  );
}

function Resume({ job, close }: DialogProps) {
  const [missed, setMissed] = useState("");
  const resume = useApiMutation("POST /v1/jobs/{job_id}/resume", { invalidates: SPOILS });
  const misfire = job.schedule?.["misfire"] as { on_resume?: string } | undefined;
  const fallback = misfire?.on_resume ?? "skip";
  const act = () =>
    resume.mutate(
      { path: { job_id: job.job_id }, body: missed ? { missed: missed as "skip" } : {} },
      {
        onSuccess: () => {
          toast(`Resumed ${job.name}`);
          close();
        },
      },
    );
  return (
    <FormDialog title={`Resume ${job.name}`} action="Resume" act={act} close={close} busy={resume.isPending} error={resume.error}>
      <ChoiceField
        label="Catch up on runs missed while paused?"
        value={missed}
        change={setMissed}
        options={[
          { value: "", label: "Schedule default", hint: `(${fallback})` },
          { value: "skip", label: "Skip all", hint: "Missed ticks are recorded but do not run." },
          { value: "once", label: "Run once", hint: "The latest missed tick stands in for all." },
          { value: "all", label: "Run each", hint: "Up to the schedule's catch-up limit." },
        ]}
      />
    </FormDialog>
  );
}

function Delete({ job, close }: DialogProps) {
  const [, navigate] = useLocation();
  const [running, setRunning] = useState("cancel");
  const once = isOneTime(job);
  const remove = useApiMutation("DELETE /v1/jobs/{job_id}", { invalidates: once ? SPOILS : ["GET /v1/jobs"] });
  const act = () =>
    remove.mutate(
      { path: { job_id: job.job_id }, query: { running: running as "cancel" } },
      {
        onSuccess: () => {
          toast(`${once ? "Cancelled" : "Deleted"} ${job.name}`);
          close();
          if (!once) navigate("/jobs");
        },
      },
    );
  return (
    <ConfirmDialog title={`${once ? "Cancel" : "Delete"} ${job.name}?`} action={once ? "Cancel run" : "Delete"} act={act} close={close} busy={remove.isPending} error={remove.error}>
      <p>{once ? "A waiting run is cancelled and stays in history." : "Stops the schedule and cancels waiting runs. Past runs stay in history. This cannot be undone."}</p>
      <ChoiceField
        label="Active runs"
        value={running}
        change={setRunning}
        options={[
          { value: "cancel", label: "Cancel" },
          { value: "keep", label: "Let them finish" },
        ]}
      />
    </ConfirmDialog>
  );
}
