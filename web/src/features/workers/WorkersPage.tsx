// The processes: workers with what they run, schedulers with their shards.
import { useState } from "react";
import { Link, useSearchParams } from "wouter";
import { useAsk, useTell } from "../../api/queries.ts";
import type { WorkerView } from "../../api/schema.gen.ts";
import { useMay } from "../../api/session.ts";
import { count } from "../../lib/figures.ts";
import { changed } from "../../lib/url.ts";
import { Button } from "../../ui/Button.tsx";
import { Card, Gauge, PageHead } from "../../ui/Card.tsx";
import { type Column, DataTable } from "../../ui/DataTable.tsx";
import { ConfirmDialog, Dialog } from "../../ui/Dialog.tsx";
import { CheckField } from "../../ui/Fields.tsx";
import { Filters } from "../../ui/Filters.tsx";
import { Answered, EmptyState } from "../../ui/Notes.tsx";
import { StateBadge } from "../../ui/State.tsx";
import { Duration, Time } from "../../ui/Time.tsx";
import { toast } from "../../ui/Toast.tsx";
import { Schedulers } from "./Schedulers.tsx";
import { stateOf } from "./model.ts";
import "./workers.css";

export default function WorkersPage() {
  const [params, setParams] = useSearchParams();
  const set = (changes: Record<string, string | null>) => setParams(changed(params, changes), { replace: true });
  const withDead = params.get("gone") === "yes";
  const workers = useAsk("GET /v1/workers", { query: withDead ? { with_dead: true } : {} }, { every: 3_000, keep: true });
  const mayDrain = useMay("POST /v1/workers/{worker_id}/drain");
  const [drained, drain] = useState<WorkerView | null>(null);
  const chosen = workers.data?.data.find((worker) => worker.worker_id === params.get("worker"));
  return (
    <>
      <PageHead title="Workers" />
      <Card flush>
        <Filters name="Which workers">
          <CheckField label="Also those that have gone lately" checked={withDead} change={(on) => set({ gone: on ? "yes" : null })} />
        </Filters>
        <Answered asked={workers} what="the workers">
          {({ data }) => (
            <DataTable
              name="Workers"
              rows={data}
              columns={columnsOf((worker) => set({ worker: worker.worker_id }), mayDrain ? drain : null)}
              rowKey={(worker) => worker.worker_id}
              keys
              foot={`${count(data.filter((worker) => worker.is_alive).length, "worker")} alive`}
              empty={
                <EmptyState title="No worker is alive." sign="chip">
                  Nothing runs without one. Start one with <code>rota worker module:app</code>.
                </EmptyState>
              }
            />
          )}
        </Answered>
      </Card>
      <Schedulers />
      {chosen && <WorkerDialog worker={chosen} close={() => set({ worker: null })} />}
      {drained && <DrainDialog worker={drained} close={() => drain(null)} />}
    </>
  );
}

function columnsOf(open: (worker: WorkerView) => void, drain: ((worker: WorkerView) => void) | null): Column<WorkerView>[] {
  const columns: Column<WorkerView>[] = [
    {
      id: "name",
      head: "Worker",
      cell: (worker) => (
        <button type="button" className="link-button table-main wrap" onClick={() => open(worker)}>
          {worker.name}
        </button>
      ),
    },
    { id: "state", head: "State", cell: (worker) => <StateBadge state={stateOf(worker)} /> },
    { id: "busy", head: "Busy", cell: (worker) => <Gauge name={`Slots of ${worker.name}`} value={worker.running} most={worker.slots} /> },
    { id: "queues", head: "Queues", show: "middle", cell: (worker) => <Names of={worker.queues} /> },
    { id: "tenants", head: "Tenants", show: "wide", cell: (worker) => <Names of={worker.tenants} /> },
    { id: "kinds", head: "Kinds", show: "wide", cell: (worker) => <Names of={worker.kinds} /> },
    { id: "up", head: "Up", num: true, show: "wide", cell: (worker) => <Duration start={worker.started_at} end={worker.is_alive ? null : worker.beat_at} /> },
    { id: "beat", head: "Heartbeat", num: true, show: "middle", cell: (worker) => <Time at={worker.beat_at} as="relative" /> },
  ];
  if (drain === null) return columns;
  return [
    ...columns,
    {
      id: "actions",
      head: "",
      num: true,
      cell: (worker) =>
        stateOf(worker) === "active" && (
          <Button small onClick={() => drain(worker)} aria-label={`Drain ${worker.name}`}>
            Drain
          </Button>
        ),
    },
  ];
}

const SHOWN = 3;

function Names({ of: names }: { of: readonly string[] }) {
  if (names.length === 0) return <span className="faint">–</span>;
  return (
    <span className="row" title={names.join("\n")}>
      {names.slice(0, SHOWN).map((name) => (
        <span key={name} className="label">
          <span className="cut">{name}</span>
        </span>
      ))}
      {names.length > SHOWN && <span className="faint">and {names.length - SHOWN} more</span>}
    </span>
  );
}

/** What it is running now. */
function WorkerDialog({ worker, close }: { worker: WorkerView; close: () => void }) {
  const query = { worker_id: worker.worker_id, status: ["running" as const, "cancelling" as const], limit: 100 };
  const runs = useAsk("GET /v1/runs", { query }, { every: 3_000, on: ["run.started", "run.ended"], keep: true });
  return (
    <Dialog title={worker.name} close={close} wide>
      <div className="row">
        <StateBadge state={stateOf(worker)} />
        <span className="soft">
          {worker.running} of {worker.slots} slots busy; up since <Time at={worker.started_at} />
        </span>
      </div>
      <div className="row">
        {worker.kinds.map((kind) => (
          <span key={kind} className="label">
            {kind}
          </span>
        ))}
      </div>
      <h3>Running now</h3>
      <Answered asked={runs} what="its runs">
        {({ data }) =>
          data.length === 0 ? (
            <p className="soft">It runs nothing of yours at the moment.</p>
          ) : (
            <ul className="worker-runs">
              {data.map((run) => (
                <li key={run.run_id} className="row row-apart">
                  <Link href={`/runs/${run.run_id}`} className="grow cut">
                    {run.job_name ?? run.run_id}
                  </Link>
                  <StateBadge state={run.status} bare />
                  <Duration start={run.start_time} end={null} />
                </li>
              ))}
            </ul>
          )
        }
      </Answered>
    </Dialog>
  );
}

function DrainDialog({ worker, close }: { worker: WorkerView; close: () => void }) {
  const drain = useTell("POST /v1/workers/{worker_id}/drain", {
    spoils: ["GET /v1/workers"],
    done: () => {
      toast(`${worker.name} takes no more runs.`);
      close();
    },
  });
  return (
    <ConfirmDialog title={`Drain ${worker.name}?`} close={close} action="Drain" act={() => drain.mutate({ path: { worker_id: worker.worker_id } })} busy={drain.isPending} error={drain.error}>
      <p>It takes no more runs and its process ends when those that it has ({worker.running} now) have ended. There is no way back but to start another worker.</p>
      <p className="soft">If it was started by <code>rota up</code>, the scheduler and this dashboard end with it.</p>
    </ConfirmDialog>
  );
}
