// The list of backfills (runs for past ticks), with their progress and actions.
import { useState } from "react";
import { Link, useSearchParams } from "wouter";
import { usePagedQuery, useApiMutation } from "../../api/queries.ts";
import type { BackfillProgress } from "../../api/schema.gen.ts";
import { useMay } from "../../api/session.ts";
import { formatCount, formatInteger } from "../../lib/figures.ts";
import { withQuery, oneOf } from "../../lib/url.ts";
import { Button, ButtonLink } from "../../ui/Button.tsx";
import { Card, PageHead, ProgressBar } from "../../ui/Card.tsx";
import { type Column, DataTable } from "../../ui/DataTable.tsx";
import { ConfirmDialog } from "../../ui/Dialog.tsx";
import { CheckField, Segments } from "../../ui/Fields.tsx";
import { Filters } from "../../ui/Filters.tsx";
import { EmptyState, ErrorNote, Loading } from "../../ui/Notes.tsx";
import { StatusBadge } from "../../ui/StatusBadge.tsx";
import { Time } from "../../ui/Time.tsx";
import { toast } from "../../ui/Toast.tsx";

const SHOWN = ["all", "open", "over"] as const;
type Status = "cancelled" | "cancelling" | "finished" | "paused" | "running";
const ASKED: Record<(typeof SHOWN)[number], Status[]> = { all: [], open: ["running", "paused", "cancelling"], over: ["finished", "cancelled"] };
const NAMES = { all: "All", open: "Active", over: "Finished" } as const;
const SPOILS = ["GET /v1/backfills", "GET /v1/backfills/{backfill_id}"] as const;

export default function BackfillsPage() {
  const [params, setParams] = useSearchParams();
  const shown = oneOf(params.get("show"), SHOWN);
  const backfills = usePagedQuery("GET /v1/backfills", { query: { status: ASKED[shown], job_id: params.get("job_id") || undefined, limit: 50 } }, { every: 3_000, on: ["run.ended"], keepPrevious: true });
  const [cancelled, cancel] = useState<BackfillProgress | null>(null);
  const mayChange = useMay("POST /v1/backfills/{backfill_id}/pause");
  return (
    <>
      <PageHead title="Backfills" about="Runs for past ticks of a job. Start a backfill from a job's page." />
      <Card flush>
        <Filters name="Backfill filters">
          <Segments name="Status" value={shown} options={SHOWN.map((option) => ({ value: option, label: NAMES[option] }))} change={(next) => setParams(withQuery(params, { show: next === "all" ? null : next }), { replace: true })} />
        </Filters>
        {backfills.error && <ErrorNote error={backfills.error} retry={backfills.refetch} />}
        {backfills.isPending && !backfills.error ? (
          <Loading what="backfills" />
        ) : (
          <DataTable
            name="Backfills"
            rows={backfills.rows}
            columns={columnsOf(mayChange ? cancel : null)}
            rowKey={(backfill) => backfill.backfill_id}
            more={backfills}
            keys
            foot={formatCount(backfills.rows.length, "backfill")}
            empty={
              <EmptyState icon="history" title="No backfills" action={<ButtonLink href="/jobs">Choose a job</ButtonLink>}>
                Start one from a job's page, or with <code>rota backfill</code>.
              </EmptyState>
            }
          />
        )}
      </Card>
      {cancelled && <CancelDialog backfill={cancelled} close={() => cancel(null)} />}
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
    { id: "state", head: "Status", cell: (each) => <StatusBadge status={each.status} /> },
    { id: "progress", head: "Progress", cell: (each) => <Progress of={each} /> },
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
    { id: "eta", head: "Finish", show: "middle", cell: (each) => <Time at={each.ended_at ?? each.eta} as="relative" /> },
    { id: "by", head: "Created by", show: "wide", cell: (each) => <span className="soft wrap">{each.created_by}</span> },
  ];
  return cancel === null ? columns : [...columns, { id: "actions", head: "", num: true, cell: (each) => <Actions of={each} cancel={cancel} /> }];
}

function Progress({ of: each }: { of: BackfillProgress }) {
  const done = each.succeeded + each.failed + each.cancelled;
  const total = each.expected;
  return (
    <div className="stack stack-tight">
      <ProgressBar share={total === 0 ? 1 : done / total} name={`Backfill of ${each.job_name ?? each.job_id}`} />
      <span className="soft">
        {formatInteger(done)} of {each.estimated ? "about " : ""}
        {formatInteger(total)}
        {each.failed > 0 && <span className="bad-text">, {formatInteger(each.failed)} failed</span>}
      </span>
    </div>
  );
}

function Actions({ of: each, cancel }: { of: BackfillProgress; cancel: (backfill: BackfillProgress) => void }) {
  const path = { backfill_id: each.backfill_id };
  const name = each.job_name ?? each.job_id;
  const pause = useApiMutation("POST /v1/backfills/{backfill_id}/pause", { invalidates: SPOILS, done: () => toast(`Paused backfill of ${name}`) });
  const resume = useApiMutation("POST /v1/backfills/{backfill_id}/resume", { invalidates: SPOILS, done: () => toast(`Resumed backfill of ${name}`) });
  if (each.status !== "running" && each.status !== "paused") return null;
  return (
    <span className="row">
      {each.status === "running" ? (
        <Button small disabled={pause.isPending} onClick={() => pause.mutate({ path })} aria-label={`Pause backfill of ${name}`}>
          Pause
        </Button>
      ) : (
        <Button small disabled={resume.isPending} onClick={() => resume.mutate({ path })} aria-label={`Resume backfill of ${name}`}>
          Resume
        </Button>
      )}
      <Button small onClick={() => cancel(each)} aria-label={`Cancel backfill of ${name}`}>
        Cancel
      </Button>
    </span>
  );
}

function CancelDialog({ backfill, close }: { backfill: BackfillProgress; close: () => void }) {
  const [isHard, setHard] = useState(false);
  const cancel = useApiMutation("POST /v1/backfills/{backfill_id}/cancel", {
    invalidates: SPOILS,
    done: () => {
      toast(`Cancelled backfill of ${backfill.job_name ?? backfill.job_id}`);
      close();
    },
  });
  const act = () => cancel.mutate({ path: { backfill_id: backfill.backfill_id }, body: { running: isHard ? "cancel" : "finish" } });
  return (
    <ConfirmDialog title="Cancel this backfill?" action="Cancel backfill" close={close} act={act} busy={cancel.isPending} error={cancel.error}>
      <p>
        {formatCount(backfill.left, "run")} {backfill.left === 1 ? "is" : "are"} unfinished. Waiting runs are cancelled; finished runs stay.
      </p>
      <CheckField label="Also cancel active runs" checked={isHard} change={setHard} />
    </ConfirmDialog>
  );
}
