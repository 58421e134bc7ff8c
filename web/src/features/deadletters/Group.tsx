// One group of dead letters: what failed, where and since when, a sample, its runs, and what to do.
import { useState } from "react";
import { Link } from "wouter";
import { useAsk, usePages } from "../../api/queries.ts";
import type { DeadGroupDetail, RunView } from "../../api/schema.gen.ts";
import { useMay } from "../../api/session.ts";
import { whole } from "../../lib/figures.ts";
import { Button, ButtonLink } from "../../ui/Button.tsx";
import { Card, Facts, Figure, PageHead } from "../../ui/Card.tsx";
import { type Column, DataTable } from "../../ui/DataTable.tsx";
import { JsonView } from "../../ui/Json.tsx";
import { EmptyState, ErrorNote, Loading, Note } from "../../ui/Notes.tsx";
import { StateBadge } from "../../ui/State.tsx";
import { Bars } from "../../ui/Strip.tsx";
import { Time } from "../../ui/Time.tsx";
import { Traceback } from "../../ui/Traceback.tsx";
import { DropDialog, EditDialog, ReplayDialog } from "./Actions.tsx";
import { Jobs } from "./Jobs.tsx";
import { listOf, these } from "./model.ts";

const DIALOGS = { replay: ReplayDialog, drop: DropDialog, edit: EditDialog } as const;
/** What was asked, of the group as it was shown at that moment. */
type Asked = { what: keyof typeof DIALOGS; group: DeadGroupDetail } | null;

export function Group({ kind, fingerprint, since, back }: { kind: string; fingerprint: string; since: string; back: string }) {
  const call = { path: { kind, fingerprint }, query: { since } };
  const group = useAsk("GET /v1/dead-letters/groups/{kind}/{fingerprint}", call, { every: 15_000, on: ["run.ended"] });
  const trail = <Link href={back}>Dead letters</Link>;
  if (group.error && "status" in group.error && group.error.status === 404) {
    return (
      <>
        <PageHead title="No dead letters in this group" trail={trail} />
        <EmptyState title="They were requeued, dropped, or are older than the time span." sign="check" action={<ButtonLink href={back}>Back to the list</ButtonLink>} />
      </>
    );
  }
  if (group.data) return <Known group={group.data} trail={trail} />;
  return group.error ? <ErrorNote error={group.error} retry={() => void group.refetch()} /> : <Loading what="the group" />;
}

function Known({ group, trail }: { group: DeadGroupDetail; trail: React.ReactNode }) {
  const mayOperate = useMay("POST /v1/dead-letters/replay");
  const [asked, ask] = useState<Asked>(null);
  const Dialog = asked && DIALOGS[asked.what];
  return (
    <>
      <PageHead title={group.error_type} trail={trail} about={<span className="wrap">{group.message}</span>}>
        {mayOperate && (
          <>
            <Button look="primary" sign="redo" onClick={() => ask({ what: "replay", group })}>
              Requeue {these(group.count)}
            </Button>
            <Button sign="edit" onClick={() => ask({ what: "edit", group })}>
              Edit and requeue
            </Button>
            <Button sign="trash" onClick={() => ask({ what: "drop", group })}>
              Drop {these(group.count)}
            </Button>
          </>
        )}
      </PageHead>
      {group.is_partial && (
        <Note tone="warn" small>
          There are more dead letters than Rota looks at for one group. The count and the first time consider the newest.
        </Note>
      )}
      <Card>
        <Facts
          of={[
            ["Task", group.kind],
            ["Where", group.frame ? <span key="frame" className="mono wrap">{group.frame}</span> : "–"],
            ["Runs", <Figure key="count" of="dead.count">{whole(group.count)}</Figure>],
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
      {Dialog && <Dialog group={asked.group} close={() => ask(null)} />}
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
          Open the run
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

/** The dead letters of the group: the same that are requeued, edited and dropped. */
function Runs({ group }: { group: DeadGroupDetail }) {
  const runs = usePages("GET /v1/dead-letters", { query: { ...listOf(group), limit: 100 } }, { keep: true });
  return (
    <Card flush title="Runs">
      {runs.error && <ErrorNote error={runs.error} retry={runs.again} />}
      {runs.isPending && !runs.error ? (
        <Loading what="the runs" />
      ) : (
        <DataTable
          name="Runs of this group"
          rows={runs.rows}
          columns={COLUMNS}
          rowKey={(run) => run.run_id}
          href={(run) => `/runs/${run.run_id}`}
          more={runs}
          keys
          empty={<EmptyState title="No dead letters are left in this group." sign="check" />}
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
  { id: "state", head: "State", cell: (run) => <StateBadge state={run.status} /> },
  { id: "attempts", head: "Attempts", num: true, show: "wide", cell: (run) => run.attempt_number },
  { id: "message", head: "Error", show: "wide", cell: (run) => <span className="soft wrap">{run.error_message}</span> },
  { id: "ended", head: "Ended", cell: (run) => <Time at={run.end_time} as="relative" /> },
];
