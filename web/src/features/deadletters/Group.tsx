// One group of dead letters: what it died of, a sample, its runs, and what to do with them.
import { useState } from "react";
import { Link } from "wouter";
import { useAsk, usePages } from "../../api/queries.ts";
import type { DeadGroupView, RunView } from "../../api/schema.gen.ts";
import { useMay } from "../../api/session.ts";
import { count } from "../../lib/figures.ts";
import { Button, ButtonLink } from "../../ui/Button.tsx";
import { Card, Facts, PageHead } from "../../ui/Card.tsx";
import { type Column, DataTable } from "../../ui/DataTable.tsx";
import { JsonView } from "../../ui/Json.tsx";
import { Answered, EmptyState, ErrorNote, Loading } from "../../ui/Notes.tsx";
import { StateBadge } from "../../ui/State.tsx";
import { Time } from "../../ui/Time.tsx";
import { DropDialog, EditDialog, ReplayDialog } from "./Actions.tsx";

type Asked = "replay" | "drop" | "edit" | null;

export function Group({ of: group, back }: { of: DeadGroupView | null; back: string }) {
  const trail = <Link href={back}>Dead letters</Link>;
  if (group === null) {
    return (
      <>
        <PageHead title="This group is gone" trail={trail} />
        <EmptyState title="Its dead letters went again, were dropped, or are older than the time shown." sign="check" action={<ButtonLink href={back}>Back to the list</ButtonLink>} />
      </>
    );
  }
  return <Known group={group} trail={trail} />;
}

function Known({ group, trail }: { group: DeadGroupView; trail: React.ReactNode }) {
  const mayOperate = useMay("POST /v1/dead-letters/replay");
  const [asked, ask] = useState<Asked>(null);
  const sample = useAsk("GET /v1/runs/{run_id}", { path: { run_id: group.sample_run_id } });
  const close = () => ask(null);
  return (
    <>
      <PageHead title={group.error_type} trail={trail} about={<span className="wrap">{group.message}</span>}>
        {mayOperate && (
          <>
            <Button look="primary" sign="redo" onClick={() => ask("replay")}>
              Replay
            </Button>
            <Button sign="trash" onClick={() => ask("drop")}>
              Drop
            </Button>
          </>
        )}
      </PageHead>
      <Card>
        <Facts
          of={[
            ["Job", <Link key="job" href={`/jobs/${group.job_id}`}>{group.job_name ?? group.job_id}</Link>],
            ["Runs", count(group.count, "dead letter")],
            ["First seen", <Time key="first" at={group.first_seen} />],
            ["Last seen", <Time key="last" at={group.last_seen} />],
          ]}
        />
      </Card>
      <Card
        title="A sample"
        aside={
          <>
            <ButtonLink small href={`/runs/${group.sample_run_id}`}>
              Open the run
            </ButtonLink>
            {mayOperate && sample.data && (
              <Button small sign="edit" onClick={() => ask("edit")}>
                Edit and replay
              </Button>
            )}
          </>
        }
      >
        <Answered asked={sample} what="the sample">
          {(run) => (
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
          )}
        </Answered>
      </Card>
      <Runs group={group} />
      {asked === "replay" && <ReplayDialog group={group} close={close} />}
      {asked === "drop" && <DropDialog group={group} close={close} />}
      {asked === "edit" && sample.data && <EditDialog run={sample.data} close={close} />}
    </>
  );
}

/** Dead letters of the job; those of this error among them. */
function Runs({ group }: { group: DeadGroupView }) {
  const runs = usePages("GET /v1/dead-letters", { query: { job_id: group.job_id, limit: 100 } }, { on: ["run.ended"], keep: true });
  const rows = runs.rows.filter((run) => run.error_message === `${group.error_type}: ${group.message}` || run.reason?.["type"] === group.error_type);
  return (
    <Card flush title="Its runs">
      {runs.error && <ErrorNote error={runs.error} retry={runs.again} />}
      {runs.isPending && !runs.error ? (
        <Loading what="its runs" />
      ) : (
        <DataTable
          name="Runs of this group"
          rows={rows}
          columns={COLUMNS}
          rowKey={(run) => run.run_id}
          href={(run) => `/runs/${run.run_id}`}
          more={runs}
          keys
          empty={<EmptyState title="None of the latest dead letters of this job died of this." sign="check" />}
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
  { id: "state", head: "State", cell: (run) => <StateBadge state={run.status} /> },
  { id: "attempts", head: "Attempts", num: true, show: "middle", cell: (run) => run.attempt_number },
  { id: "message", head: "Error", show: "wide", cell: (run) => <span className="soft wrap">{run.error_message}</span> },
  { id: "ended", head: "Died", cell: (run) => <Time at={run.end_time} as="relative" /> },
];
