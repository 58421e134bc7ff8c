// What can be done with a job: each is a dialog that stays open, with the reason, if it is refused.
import { useState } from "react";
import { useLocation } from "wouter";
import { useTell } from "../../api/queries.ts";
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

/** What whoever is logged in may do with it, as it is now. */
export function itemsFor(job: JobView, act: (action: Action) => void, go: (path: string) => void): Item[] {
  const items: Item[] = [];
  if (may("POST /v1/jobs/{job_id}/runNow")) items.push({ label: "Run now", sign: "play", act: () => act("run") });
  const once = isOneTime(job);
  if (may("POST /v1/jobs/{job_id}/pause") && !once) {
    if (job.status === "paused" || job.status === "quarantined") items.push({ label: "Resume", sign: "play", act: () => act("resume") });
    else items.push({ label: "Pause", sign: "pause", disabled: job.status === "finished", act: () => act("pause") });
  }
  if (may("PATCH /v1/jobs/{job_id}")) {
    items.push({ label: "Edit", sign: "edit", act: () => go(`/jobs/${job.job_id}/edit`) });
    items.push({ label: "Make one like it", sign: "copy", act: () => go(`/jobs/new?like=${job.job_id}`) });
  }
  if (may("POST /v1/jobs/{job_id}/backfills") && !once) items.push({ label: "Backfill", sign: "history", disabled: !job.schedule, act: () => act("backfill") });
  if (may("DELETE /v1/jobs/{job_id}")) items.push({ label: once ? "Cancel" : "Delete", sign: "trash", danger: true, act: () => act("delete") });
  return items;
}

/** The dialog of an action, if one is open. */
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

interface Given {
  job: JobView;
  close: () => void;
}

function RunNow({ job, close }: Given) {
  const schema = usePayloadSchema(job.kind);
  if (schema === undefined) {
    return (
      <FormDialog title={`Run ${job.name} now`} action="Run now" act={close} disabled close={close}>
        <Loading what="the kind" />
      </FormDialog>
    );
  }
  return <RunNowForm job={job} close={close} schema={schema} />;
}

const OVERLAPS = [
  { value: "", label: "As the job says" },
  { value: "allow", label: "Run beside it" },
  { value: "queue_all", label: "Run after it" },
  { value: "skip", label: "Do not run" },
  { value: "cancel_running", label: "Cancel it" },
] as const;

function RunNowForm({ job, close, schema }: Given & { schema: Schema | null }) {
  const [, navigate] = useLocation();
  const [priority, setPriority] = useState("");
  const [overlap, setOverlap] = useState("");
  const payload = usePayload(schema, job.payload);
  const run = useTell("POST /v1/jobs/{job_id}/runNow", { spoils: SPOILS });
  const act = async () => {
    const isOwn = JSON.stringify(payload.value) === JSON.stringify(job.payload ?? null);
    const body = {
      ...(isOwn ? {} : { payload: payload.value }),
      ...(priority ? { priority: priority as "high" } : {}),
      ...(overlap ? { overlap: overlap as "allow" } : {}),
    };
    try {
      const made = await run.mutateAsync({ path: { job_id: job.job_id }, body });
      if (made.refused) toast(`It did not run: ${made.refused.replaceAll("_", " ")}.`, "bad");
      else toast(`${job.name} runs.`);
      close();
      navigate(`/runs/${made.run_id}`);
    } catch {
      // The dialog shows it.
    }
  };
  return (
    <FormDialog title={`Run ${job.name} now`} action="Run now" act={() => void act()} close={close} busy={run.isPending} error={run.error} disabled={payload.error !== null} wide>
      {job.status === "paused" && <Note tone="warn">The job is paused. It runs this once and stays paused.</Note>}
      <PayloadForm payload={payload} hint="The job's own; what is changed here is for this run only." />
      <div className="grid-2">
        <SelectField label="Priority" value={priority} change={setPriority} options={[{ value: "", label: "As the job says" }, "high", "normal", "low"]} />
        <SelectField label="If a run of it is alive" value={overlap} change={setOverlap} options={OVERLAPS} />
      </div>
    </FormDialog>
  );
}

function Pause({ job, close }: Given) {
  const [reason, setReason] = useState("");
  const pause = useTell("POST /v1/jobs/{job_id}/pause", { spoils: SPOILS });
  const act = () =>
    pause.mutate(
      { path: { job_id: job.job_id }, body: reason ? { reason } : {} },
      {
        onSuccess: () => {
          toast(`${job.name} is paused.`);
          close();
        },
      },
    );
  return (
    <FormDialog title={`Pause ${job.name}`} action="Pause" act={act} close={close} busy={pause.isPending} error={pause.error}>
      <p>It fires no more ticks until it is resumed. Runs that exist go on.</p>
      <TextField label="Why (optional)" hint="For whoever finds it paused." value={reason} change={setReason} maxLength={1000} autoFocus />
    </FormDialog>
  );
}

function Resume({ job, close }: Given) {
  const [missed, setMissed] = useState("");
  const resume = useTell("POST /v1/jobs/{job_id}/resume", { spoils: SPOILS });
  const misfire = job.schedule?.["misfire"] as { on_resume?: string } | undefined;
  const usual = misfire?.on_resume ?? "skip";
  const act = () =>
    resume.mutate(
      { path: { job_id: job.job_id }, body: missed ? { missed: missed as "skip" } : {} },
      {
        onSuccess: () => {
          toast(`${job.name} goes on.`);
          close();
        },
      },
    );
  return (
    <FormDialog title={`Resume ${job.name}`} action="Resume" act={act} close={close} busy={resume.isPending} error={resume.error}>
      <ChoiceField
        label="What becomes of the ticks that were missed in the pause?"
        value={missed}
        change={setMissed}
        options={[
          { value: "", label: "As its schedule says", hint: `(${usual})` },
          { value: "skip", label: "None runs", hint: "Each is recorded as paused." },
          { value: "once", label: "One runs", hint: "The latest stands for all of them." },
          { value: "all", label: "Each runs", hint: "Up to the most that its schedule catches up." },
        ]}
      />
    </FormDialog>
  );
}

function Delete({ job, close }: Given) {
  const [, navigate] = useLocation();
  const [running, setRunning] = useState("cancel");
  const once = isOneTime(job);
  const remove = useTell("DELETE /v1/jobs/{job_id}", { spoils: once ? SPOILS : ["GET /v1/jobs"] });
  const act = () =>
    remove.mutate(
      { path: { job_id: job.job_id }, query: { running: running as "cancel" } },
      {
        onSuccess: () => {
          toast(`${job.name} is ${once ? "cancelled" : "deleted"}.`);
          close();
          if (!once) navigate("/jobs");
        },
      },
    );
  return (
    <ConfirmDialog title={`${once ? "Cancel" : "Delete"} ${job.name}?`} action={once ? "Cancel run" : "Delete"} act={act} close={close} busy={remove.isPending} error={remove.error}>
      <p>{once ? "A run that waits ends as cancelled and stays in history." : "It fires no more ticks, and runs that wait are cancelled. Its runs stay in history. This cannot be undone."}</p>
      <ChoiceField
        label="Runs in progress"
        value={running}
        change={setRunning}
        options={[
          { value: "cancel", label: "are cancelled" },
          { value: "keep", label: "go on" },
        ]}
      />
    </ConfirmDialog>
  );
}
