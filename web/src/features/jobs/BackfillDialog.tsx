// The backfill dialog: choose a range and which ticks to run, preview the count, then start.
import { useState } from "react";
import { useLocation } from "wouter";
import { useApiMutation } from "../../api/queries.ts";
import type { BackfillPlan, BackfillEstimate, JobView } from "../../api/schema.gen.ts";
import { formatCount, formatInteger } from "../../lib/figures.ts";
import { toInputValue, fromInputValue, formatDuration, parseIsoDuration } from "../../lib/time.ts";
import { Button } from "../../ui/Button.tsx";
import { Facts } from "../../ui/Card.tsx";
import { FormDialog } from "../../ui/Dialog.tsx";
import { CheckField, ChoiceField, SelectField, TextField } from "../../ui/Fields.tsx";
import { Note } from "../../ui/Notes.tsx";
import { PayloadForm, usePayload } from "../../ui/PayloadForm.tsx";
import { toast } from "../../ui/Toast.tsx";
import { ZONE } from "../../ui/Time.tsx";
import { usePayloadSchema } from "./kinds.ts";

const HOUR = 3_600_000;
const SPANS = [
  ["Last hour", HOUR],
  ["Last day", 24 * HOUR],
  ["Last week", 7 * 24 * HOUR],
  ["Last 30 days", 30 * 24 * HOUR],
] as const;

export function BackfillDialog({ job, close }: { job: JobView; close: () => void }) {
  const [, navigate] = useLocation();
  const [now] = useState(() => Math.floor(Date.now() / 60_000) * 60_000);
  const [since, setSince] = useState(() => toInputValue(now - 24 * HOUR, ZONE));
  const [until, setUntil] = useState(() => toInputValue(now, ZONE));
  const [only, setOnly] = useState("missing");
  const [order, setOrder] = useState("oldest");
  const [atOnce, setAtOnce] = useState("4");
  const [isOther, setOther] = useState(false);
  const [planned, setPlanned] = useState<BackfillEstimate | null>(null);
  const payload = usePayload(usePayloadSchema(job.kind) ?? null, job.payload);
  const backfill = useApiMutation("POST /v1/jobs/{job_id}/backfills", { invalidates: ["GET /v1/backfills", "GET /v1/jobs/{job_id}/runs"] });
  const range = { since: fromInputValue(since, ZONE), until: fromInputValue(until, ZONE) };
  const wrong = wrongRange(range.since, range.until, now);
  // The preview is valid only for the options that it was made for.
  const change =
    <T,>(set: (value: T) => void) =>
    (value: T) => {
      set(value);
      setPlanned(null);
      backfill.reset();
    };
  const send = async (isDry: boolean) => {
    const body: BackfillPlan = {
      since: range.since ?? "",
      until: range.until ?? "",
      only: only as "missing",
      order: order as "oldest",
      at_once: Number(atOnce),
      dry_run: isDry,
      ...(isOther ? { payload: payload.value } : {}),
    };
    try {
      const found = await backfill.mutateAsync({ path: { job_id: job.job_id }, body });
      if (isDry) {
        setPlanned(found);
        return;
      }
      toast(`Started backfill of ${job.name}: ${formatCount(found.new, "run")}`);
      close();
      navigate("/backfills");
    } catch {
      // The dialog shows the error.
    }
  };
  return (
    <FormDialog
      title={`Backfill ${job.name}`}
      action={planned ? `Create ${formatCount(planned.new, "run")}` : "Preview"}
      act={() => void send(planned === null)}
      close={close}
      busy={backfill.isPending}
      error={backfill.error}
      disabled={wrong !== null || planned?.new === 0 || (isOther && payload.error !== null)}
      wide
    >
      <p className="soft">Creates runs for past ticks: before the job existed, while it was paused, or where its runs failed.</p>
      <div className="row" role="group" aria-label="Range">
        {SPANS.map(([name, span]) => (
          <Button
            key={name}
            small
            onClick={() => {
              change(setSince)(toInputValue(now - span, ZONE));
              change(setUntil)(toInputValue(now, ZONE));
            }}
          >
            {name}
          </Button>
        ))}
      </div>
      <div className="grid-2">
        <TextField label="From" type="datetime-local" value={since} change={change(setSince)} hint={`In ${ZONE}.`} />
        <TextField label="Until" type="datetime-local" value={until} change={change(setUntil)} error={wrong} hint={`Exclusive, in ${ZONE}.`} />
      </div>
      <ChoiceField
        label="Ticks to run"
        value={only}
        change={change(setOnly)}
        options={[
          { value: "missing", label: "Missing: ticks that never ran" },
          { value: "failed", label: "Failed: ticks whose runs failed" },
          { value: "all", label: "All, including successful" },
        ]}
      />
      <div className="grid-2">
        <SelectField
          label="Order"
          value={order}
          change={change(setOrder)}
          options={[
            { value: "oldest", label: "Oldest first" },
            { value: "newest", label: "Newest first" },
          ]}
        />
        <TextField label="Max concurrent runs" inputMode="numeric" value={atOnce} change={change(setAtOnce)} />
      </div>
      <CheckField label="Override the job's payload" checked={isOther} change={change(setOther)} />
      {isOther && <PayloadForm payload={payload} />}
      {planned && <Plan planned={planned} />}
    </FormDialog>
  );
}

function wrongRange(since: string | null, until: string | null, now: number): string | null {
  if (!since || !until) return "Both times are required.";
  if (since >= until) return "Must be after From.";
  return new Date(until).getTime() > now + 60_000 ? "Must not be in the future." : null;
}

function Plan({ planned }: { planned: BackfillEstimate }) {
  const about = planned.estimated ? "about " : "";
  const takes = planned.takes === null ? null : (parseIsoDuration(planned.takes) ?? null);
  return (
    <div className="stack">
      <Note tone={planned.new === 0 ? "idle" : "busy"} icon={planned.new === 0 ? "check" : "history"}>
        {planned.new === 0
          ? "Nothing to backfill in this range."
          : `${planned.estimated ? "About " : ""}${formatCount(planned.new, "run")} will be created${takes === null ? "" : `, which takes about ${formatDuration(takes)}`}.`}
      </Note>
      <Facts
        of={[
          ["Ticks in range", `${about}${formatInteger(planned.ticks)}`],
          ["Already run", formatInteger(planned.ran)],
          ["Failed", formatInteger(planned.failed)],
          ["Never ran", formatInteger(planned.missing)],
          ["Active now", formatInteger(planned.alive)],
          planned.undecided > 0 && ["Left to the scheduler", formatInteger(planned.undecided)],
        ]}
      />
    </div>
  );
}

