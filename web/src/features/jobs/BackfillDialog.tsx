// The backfill wizard: a range, what to run in it, how many that would be, and then it is started.
import { useState } from "react";
import { useLocation } from "wouter";
import { useTell } from "../../api/queries.ts";
import type { BackfillPlan, BackfillPlanned, JobView } from "../../api/schema.gen.ts";
import { count, whole } from "../../lib/figures.ts";
import { forInput, fromInput, length, seconds } from "../../lib/time.ts";
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
  const [since, setSince] = useState(() => forInput(now - 24 * HOUR, ZONE));
  const [until, setUntil] = useState(() => forInput(now, ZONE));
  const [only, setOnly] = useState("missing");
  const [order, setOrder] = useState("oldest");
  const [atOnce, setAtOnce] = useState("4");
  const [isOther, setOther] = useState(false);
  const [planned, setPlanned] = useState<BackfillPlanned | null>(null);
  const payload = usePayload(usePayloadSchema(job.kind) ?? null, job.payload);
  const tell = useTell("POST /v1/jobs/{job_id}/backfills", { spoils: ["GET /v1/backfills", "GET /v1/jobs/{job_id}/runs"] });
  const range = { since: fromInput(since, ZONE), until: fromInput(until, ZONE) };
  const wrong = wrongRange(range.since, range.until, now);
  // What was counted is true of what was asked, not of what is asked now.
  const change =
    <T,>(set: (value: T) => void) =>
    (value: T) => {
      set(value);
      setPlanned(null);
      tell.reset();
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
      const found = await tell.mutateAsync({ path: { job_id: job.job_id }, body });
      if (isDry) {
        setPlanned(found);
        return;
      }
      toast(`The backfill of ${job.name} has begun: ${count(found.new, "run")}.`);
      close();
      navigate("/backfills");
    } catch {
      // The dialog shows it.
    }
  };
  return (
    <FormDialog
      title={`Backfill ${job.name}`}
      action={planned ? `Make ${count(planned.new, "run")}` : "Count first"}
      act={() => void send(planned === null)}
      close={close}
      busy={tell.isPending}
      error={tell.error}
      disabled={wrong !== null || planned?.new === 0 || (isOther && payload.error !== null)}
      wide
    >
      <p className="soft">Runs for ticks of the past: for times before the job was made, when it was paused, or when its runs failed.</p>
      <div className="row" role="group" aria-label="Range">
        {SPANS.map(([name, span]) => (
          <Button
            key={name}
            small
            onClick={() => {
              change(setSince)(forInput(now - span, ZONE));
              change(setUntil)(forInput(now, ZONE));
            }}
          >
            {name}
          </Button>
        ))}
      </div>
      <div className="grid-2">
        <TextField label="From" type="datetime-local" value={since} change={change(setSince)} hint={`In ${ZONE}.`} />
        <TextField label="Before" type="datetime-local" value={until} change={change(setUntil)} error={wrong} hint="Not in the future." />
      </div>
      <ChoiceField
        label="Which ticks"
        value={only}
        change={change(setOnly)}
        options={[
          { value: "missing", label: "Those that never ran" },
          { value: "failed", label: "Those whose runs failed" },
          { value: "all", label: "Each of them, again" },
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
        <TextField label="At a time" inputMode="numeric" value={atOnce} change={change(setAtOnce)} hint="So many runs of it may be alive." />
      </div>
      <CheckField label="With another payload than the job's" checked={isOther} change={change(setOther)} />
      {isOther && <PayloadForm payload={payload} />}
      {planned && <Plan planned={planned} />}
    </FormDialog>
  );
}

function wrongRange(since: string | null, until: string | null, now: number): string | null {
  if (!since || !until) return "Both times are needed.";
  if (since >= until) return "It must be after the beginning.";
  return new Date(until).getTime() > now + 60_000 ? "It may not lie in the future." : null;
}

function Plan({ planned }: { planned: BackfillPlanned }) {
  const about = planned.estimated ? "about " : "";
  const takes = planned.takes === null ? null : (seconds(planned.takes) ?? null);
  return (
    <div className="stack">
      <Note tone={planned.new === 0 ? "idle" : "busy"} sign={planned.new === 0 ? "check" : "history"}>
        {planned.new === 0
          ? "There is nothing to do in this range."
          : `${about}${count(planned.new, "run")} would be made${takes === null ? "" : `, which takes about ${length(takes)}`}.`}
      </Note>
      <Facts
        of={[
          ["Ticks in the range", `${about}${whole(planned.ticks)}`],
          ["Have run", whole(planned.ran)],
          ["Failed", whole(planned.failed)],
          ["Never ran", whole(planned.missing)],
          ["Alive now", whole(planned.alive)],
          planned.undecided > 0 && ["Left to the scheduler", whole(planned.undecided)],
        ]}
      />
    </div>
  );
}

