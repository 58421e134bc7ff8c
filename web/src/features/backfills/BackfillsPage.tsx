// Backfills: runs that are made for a time that has passed, how far each is, and how to stop it.
import { useState } from "react";
import { Link, useSearchParams } from "wouter";
import { usePages, useTell } from "../../api/queries.ts";
import type { BackfillProgress } from "../../api/schema.gen.ts";
import { useMay } from "../../api/session.ts";
import { count, whole } from "../../lib/figures.ts";
import { changed, oneOf } from "../../lib/url.ts";
import { Button, ButtonLink } from "../../ui/Button.tsx";
import { Card, PageHead, ProgressBar } from "../../ui/Card.tsx";
import { type Column, DataTable } from "../../ui/DataTable.tsx";
import { ConfirmDialog } from "../../ui/Dialog.tsx";
import { CheckField, Segments } from "../../ui/Fields.tsx";
import { Filters } from "../../ui/Filters.tsx";
import { EmptyState, ErrorNote, Loading } from "../../ui/Notes.tsx";
import { StateBadge } from "../../ui/State.tsx";
import { Time } from "../../ui/Time.tsx";
import { toast } from "../../ui/Toast.tsx";

const SHOWN = ["all", "open", "over"] as const;
type Status = "cancelled" | "cancelling" | "finished" | "paused" | "running";
const ASKED: Record<(typeof SHOWN)[number], Status[]> = { all: [], open: ["running", "paused", "cancelling"], over: ["finished", "cancelled"] };
const NAMES = { all: "All", open: "At work", over: "Over" } as const;
const SPOILS = ["GET /v1/backfills", "GET /v1/backfills/{backfill_id}"] as const;

export default function BackfillsPage() {
  const [params, setParams] = useSearchParams();
  const shown = oneOf(params.get("show"), SHOWN);
  const backfills = usePages("GET /v1/backfills", { query: { status: ASKED[shown], job_id: params.get("job_id") || undefined, limit: 50 } }, { every: 3_000, on: ["run.ended"], keep: true });
  const [cancelled, cancel] = useState<BackfillProgress | null>(null);
  const mayChange = useMay("POST /v1/backfills/{backfill_id}/pause");
  return (
    <>
      <PageHead title="Backfills" about="Runs of a job for times that have passed. A backfill begins on the page of a job." />
      <Card flush>
        <Filters name="Which backfills">
          <Segments name="Which" value={shown} options={SHOWN.map((each) => ({ value: each, label: NAMES[each] }))} change={(next) => setParams(changed(params, { show: next === "all" ? null : next }), { replace: true })} />
        </Filters>
        {backfills.error && <ErrorNote error={backfills.error} retry={backfills.again} />}
        {backfills.isPending && !backfills.error ? (
          <Loading what="the backfills" />
        ) : (
          <DataTable
            name="Backfills"
            rows={backfills.rows}
            columns={columnsOf(mayChange ? cancel : null)}
            rowKey={(each) => each.backfill_id}
            more={backfills}
            keys
            foot={count(backfills.rows.length, "backfill")}
            empty={
              <EmptyState sign="history" title="There is no backfill." action={<ButtonLink href="/jobs">Choose a job</ButtonLink>}>
                Begin one from the page of a job, or with <code>rota backfill</code>.
              </EmptyState>
            }
          />
        )}
      </Card>
      {cancelled && <Cancel backfill={cancelled} close={() => cancel(null)} />}
    </>
  );
}

function columnsOf(cancel: ((backfill: BackfillProgress) => void) | null): Column<BackfillProgress>[] {
  const columns: Column<BackfillProgress>[] = [
    {
      id: "job",
      head: "Job",
      cell: (each) => (
        <Link href={`/jobs/${each.job_id}`} className="table-main wrap">
          {each.job_name ?? each.job_id}
        </Link>
      ),
    },
    { id: "state", head: "State", cell: (each) => <StateBadge state={each.status} /> },
    { id: "far", head: "How far", cell: (each) => <Far of={each} /> },
    {
      id: "range",
      head: "Range",
      show: "wide",
      cell: (each) => (
        <span className="soft">
          <Time at={each.since} /> to <Time at={each.until} />, {each.only}
        </span>
      ),
    },
    { id: "eta", head: "Done", show: "middle", cell: (each) => <Time at={each.ended_at ?? each.eta} as="relative" /> },
    { id: "by", head: "By", show: "wide", cell: (each) => <span className="soft wrap">{each.created_by}</span> },
  ];
  return cancel === null ? columns : [...columns, { id: "actions", head: "", num: true, cell: (each) => <Actions of={each} cancel={cancel} /> }];
}

function Far({ of: each }: { of: BackfillProgress }) {
  const done = each.succeeded + each.failed + each.cancelled;
  const total = each.expected;
  return (
    <div className="stack stack-tight">
      <ProgressBar share={total === 0 ? 1 : done / total} name={`Backfill of ${each.job_name ?? each.job_id}`} />
      <span className="soft">
        {whole(done)} of {each.estimated ? "about " : ""}
        {whole(total)}
        {each.failed > 0 && <span className="bad-text">, {whole(each.failed)} failed</span>}
      </span>
    </div>
  );
}

function Actions({ of: each, cancel }: { of: BackfillProgress; cancel: (backfill: BackfillProgress) => void }) {
  const path = { backfill_id: each.backfill_id };
  const pause = useTell("POST /v1/backfills/{backfill_id}/pause", { spoils: SPOILS, done: () => toast("It makes no more runs.") });
  const resume = useTell("POST /v1/backfills/{backfill_id}/resume", { spoils: SPOILS, done: () => toast("It goes on.") });
  const name = each.job_name ?? each.job_id;
  if (each.status !== "running" && each.status !== "paused") return null;
  return (
    <span className="row">
      {each.status === "running" ? (
        <Button small disabled={pause.isPending} onClick={() => pause.mutate({ path })} aria-label={`Pause the backfill of ${name}`}>
          Pause
        </Button>
      ) : (
        <Button small disabled={resume.isPending} onClick={() => resume.mutate({ path })} aria-label={`Resume the backfill of ${name}`}>
          Resume
        </Button>
      )}
      <Button small onClick={() => cancel(each)} aria-label={`Cancel the backfill of ${name}`}>
        Cancel
      </Button>
    </span>
  );
}

function Cancel({ backfill, close }: { backfill: BackfillProgress; close: () => void }) {
  const [isHard, setHard] = useState(false);
  const cancel = useTell("POST /v1/backfills/{backfill_id}/cancel", {
    spoils: SPOILS,
    done: () => {
      toast("The backfill is cancelled.");
      close();
    },
  });
  const act = () => cancel.mutate({ path: { backfill_id: backfill.backfill_id }, body: { running: isHard ? "cancel" : "finish" } });
  return (
    <ConfirmDialog title="Cancel this backfill?" action="Cancel it" close={close} act={act} busy={cancel.isPending} error={cancel.error}>
      <p>
        {count(backfill.left, "run")} of it {backfill.left === 1 ? "is" : "are"} not done. What waits is cancelled; what has run stays.
      </p>
      <CheckField label="Also stop the runs that are at work" checked={isHard} change={setHard} />
    </ConfirmDialog>
  );
}
