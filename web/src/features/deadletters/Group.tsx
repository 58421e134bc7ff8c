// The page of a group of dead letters: facts, newest run, all runs, and actions.
import { useState } from "react";
import { Link } from "wouter";
import { useApiQuery, usePagedQuery } from "../../api/queries.ts";
import type { DeadGroupDetail, RunView } from "../../api/schema.gen.ts";
import { useMay } from "../../api/session.ts";
import { formatInteger } from "../../lib/figures.ts";
import { Button, ButtonLink } from "../../ui/Button.tsx";
import { Card, Facts, Figure, PageHead } from "../../ui/Card.tsx";
import { type Column, DataTable } from "../../ui/DataTable.tsx";
import { JsonView } from "../../ui/JsonView.tsx";
import { EmptyState, ErrorNote, Loading, Note } from "../../ui/Notes.tsx";
import { StatusBadge } from "../../ui/StatusBadge.tsx";
import { Bars } from "../../ui/OutcomeStrip.tsx";
import { Time } from "../../ui/Time.tsx";
import { Traceback } from "../../ui/Traceback.tsx";
import { DropDialog, EditDialog, RequeueDialog } from "./Actions.tsx";
import { Jobs } from "./Jobs.tsx";
import { listOf, formatRuns } from "./model.ts";

const DIALOGS = { replay: RequeueDialog, drop: DropDialog, edit: EditDialog } as const;
/** The open dialog, with the group as it was shown at that time. */
type OpenDialog = { action: keyof typeof DIALOGS; group: DeadGroupDetail } | null;

export function Group({ kind, fingerprint, since, back }: { kind: string; fingerprint: string; since: string; back: string }) {
  const call = { path: { kind, fingerprint }, query: { since } };
  const group = useApiQuery("GET /v1/dead-letters/groups/{kind}/{fingerprint}", call, { every: 15_000, on: ["run.ended"] });
  const trail = <Link href={back}>Dead letters</Link>;
  if (group.error && "status" in group.error && group.error.status === 404) {
    return (
      <>
        <PageHead title="No dead letters in this group" trail={trail} />
        <EmptyState title="Requeued, dropped, or older than the time span" icon="check" action={<ButtonLink href={back}>Back to list</ButtonLink>} />
      </>
    );
  }
  if (group.data) return <GroupView group={group.data} trail={trail} />;
  return group.error ? <ErrorNote error={group.error} retry={() => void group.refetch()} /> : <Loading what="group" />;
}

function GroupView({ group, trail }: { group: DeadGroupDetail; trail: React.ReactNode }) {
  const mayOperate = useMay("POST /v1/dead-letters/replay");
  const [dialog, openDialog] = useState<OpenDialog>(null);
  const Dialog = dialog && DIALOGS[dialog.action];
  return (
    <>
      <PageHead title={group.error_type} trail={trail} about={<span className="wrap">{group.message}</span>}>
        {mayOperate && (
          <>
            <Button look="primary" icon="redo" onClick={() => openDialog({ action: "replay", group })}>
              Requeue {formatRuns(group.count)}
            </Button>
            <Button icon="edit" onClick={() => openDialog({ action: "edit", group })}>
              Edit and requeue
            </Button>
            <Button icon="trash" onClick={() => openDialog({ action: "drop", group })}>
              Drop {formatRuns(group.count)}
            </Button>
          </>
        )}
      </PageHead>
      {group.is_partial && (
        <Note tone="warn" small>
          This group has more dead letters than Rota scans. The count and First seen cover only the newest.
        </Note>
      )}
      <Card>
        <Facts
          of={[
            ["Task", group.kind],
            ["Location", group.frame ? <span key="frame" className="mono wrap">{group.frame}</span> : "–"],
            ["Runs", <Figure key="count" of="dead.count">{formatInteger(group.count)}</Figure>],
            ["First seen", <Time key="first" at={group.first_seen} />],
            ["Last seen", <Time key="last" at={group.last_seen} />],
            ["Last 24 hours", <Bars key="hours" name="Failures per hour, last 24 hours" counts={group.counts_per_hour} />],
            group.versions.length > 0 && ["Definition versions", group.versions.join(", ")],
            ["Jobs", <Jobs key="jobs" of={group} />],
          ]}
        />
      </Card>
      <Sample group={group} />
      <Runs group={group} />
      {Dialog && <Dialog group={dialog.group} close={() => openDialog(null)} />}
    </>
  );
}

function Sample({ group }: { group: DeadGroupDetail }) {
  const run = group.sample;
  return (
    <Card
      title="Newest run"
      aside={
        <ButtonLink small href={`/runs/${run.run_id}`}>
          Open run
        </ButtonLink>
      }
    >
      <div className="stack">
        {run.traceback && <Traceback errors={run.traceback} />}
        <div className="grid-2 dead-sample">
          <div className="stack">
            <h3>Payload</h3>
            <JsonView value={run.payload} name="payload" />
          </div>
          <div className="stack">
            <h3>Reason</h3>
            <JsonView value={run.reason} name="reason" />
          </div>
        </div>
      </div>
    </Card>
  );
}

/** The dead letters of the group: exactly those that the actions apply to. */
function Runs({ group }: { group: DeadGroupDetail }) {
  const runs = usePagedQuery("GET /v1/dead-letters", { query: { ...listOf(group), limit: 100 } }, { keepPrevious: true });
  return (
    <Card flush title="Runs">
      {runs.error && <ErrorNote error={runs.error} retry={runs.refetch} />}
      {runs.isPending && !runs.error ? (
        <Loading what="runs" />
      ) : (
        <DataTable
          name="Runs of this group"
          rows={runs.rows}
          columns={COLUMNS}
          rowKey={(run) => run.run_id}
          href={(run) => `/runs/${run.run_id}`}
          more={runs}
          keys
          empty={<EmptyState title="No recent runs in this group" icon="check" />}
        />
      )}
    </Card>
  );
}

const COLUMNS: Column<RunView>[] = [
  {
    id: "run",
    head: "Run",
    cell: (run) => (
      <Link className="table-main mono" href={`/runs/${run.run_id}`}>
        {run.run_id.slice(0, 16)}…
      </Link>
    ),
  },
  { id: "job", head: "Job", show: "middle", cell: (run) => <span className="wrap">{run.job_name ?? "–"}</span> },
  { id: "state", head: "Status", cell: (run) => <StatusBadge status={run.status} /> },
  { id: "attempts", head: "Attempts", num: true, show: "wide", cell: (run) => run.attempt_number },
  { id: "message", head: "Error", show: "wide", cell: (run) => <span className="soft wrap">{run.error_message}</span> },
  { id: "ended", head: "Ended", cell: (run) => <Time at={run.end_time} as="relative" /> },
];
