// The processes: workers with their runs, schedulers with their shards.
import { useState } from "react";
import { Link, useSearchParams } from "wouter";
import { useApiQuery, useApiMutation } from "../../api/queries.ts";
import type { WorkerView } from "../../api/schema.gen.ts";
import { useMay } from "../../api/session.ts";
import { formatCount } from "../../lib/figures.ts";
import { withQuery } from "../../lib/url.ts";
import { Button } from "../../ui/Button.tsx";
import { Card, Gauge, PageHead } from "../../ui/Card.tsx";
import { type Column, DataTable } from "../../ui/DataTable.tsx";
import { ConfirmDialog, Dialog } from "../../ui/Dialog.tsx";
import { CheckField } from "../../ui/Fields.tsx";
import { Filters } from "../../ui/Filters.tsx";
import { QueryView, EmptyState } from "../../ui/Notes.tsx";
import { StatusBadge } from "../../ui/StatusBadge.tsx";
import { Duration, Time } from "../../ui/Time.tsx";
import { toast } from "../../ui/Toast.tsx";
import { Schedulers } from "./Schedulers.tsx";
import { stateOf } from "./model.ts";
import "./workers.css";

export default function WorkersPage() {
  const [params, setParams] = useSearchParams();
  const set = (changes: Record<string, string | null>) => setParams(withQuery(params, changes), { replace: true });
  const withDead = params.get("gone") === "yes";
  const workers = useApiQuery("GET /v1/workers", { query: withDead ? { with_dead: true } : {} }, { every: 3_000, keepPrevious: true });
  const mayDrain = useMay("POST /v1/workers/{worker_id}/drain");
  const [drained, drain] = useState<WorkerView | null>(null);
  const chosen = workers.data?.data.find((worker) => worker.worker_id === params.get("worker"));
  return (
    <>
      <PageHead title="Workers" />
      <Card flush>
        <Filters name="Worker filters">
          <CheckField label="Show recently stopped" checked={withDead} change={(on) => set({ gone: on ? "yes" : null })} />
        </Filters>
        <QueryView query={workers} what="workers">
          {({ data }) => (
            <DataTable
              name="Workers"
              rows={data}
              columns={columnsOf((worker) => set({ worker: worker.worker_id }), mayDrain ? drain : null)}
              rowKey={(worker) => worker.worker_id}
              keys
              foot={`${formatCount(data.filter((worker) => worker.is_alive).length, "worker")} running`}
              empty={
                <EmptyState title="No workers" icon="chip">
                  Without a worker no run starts. Start one with <code>rota worker module:app</code>.
                </EmptyState>
              }
            />
          )}
        </QueryView>
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
    { id: "state", head: "Status", cell: (worker) => <StatusBadge status={stateOf(worker)} /> },
    { id: "busy", head: "Busy slots", cell: (worker) => <Gauge name={`Slots of ${worker.name}`} value={worker.running} max={worker.slots} /> },
    { id: "queues", head: "Queues", show: "middle", cell: (worker) => <Names of={worker.queues} /> },
    { id: "tenants", head: "Tenants", show: "wide", cell: (worker) => <Names of={worker.tenants} /> },
    { id: "kinds", head: "Kinds", show: "wide", cell: (worker) => <Names of={worker.kinds} /> },
    { id: "up", head: "Uptime", num: true, show: "wide", cell: (worker) => <Duration start={worker.started_at} end={worker.is_alive ? null : worker.beat_at} /> },
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

/** The active runs of a worker. */
function WorkerDialog({ worker, close }: { worker: WorkerView; close: () => void }) {
  const query = { worker_id: worker.worker_id, status: ["running" as const, "cancelling" as const], limit: 100 };
  const runs = useApiQuery("GET /v1/runs", { query }, { every: 3_000, on: ["run.started", "run.ended"], keepPrevious: true });
  return (
    <Dialog title={worker.name} close={close} wide>
      <div className="row">
        <StatusBadge status={stateOf(worker)} />
        <span className="soft">
          {worker.running} of {worker.slots} slots busy; started <Time at={worker.started_at} as="relative" />
        </span>
      </div>
      <div className="row">
        {worker.kinds.map((kind) => (
          <span key={kind} className="label">
            {kind}
          </span>
        ))}
      </div>
      <h3>Active runs</h3>
      <QueryView query={runs} what="runs">
        {({ data }) =>
          data.length === 0 ? (
            <p className="soft">No active runs of your tenant</p>
          ) : (
            <ul className="worker-runs">
              {data.map((run) => (
                <li key={run.run_id} className="row row-apart">
                  <Link href={`/runs/${run.run_id}`} className="grow cut">
                    {run.job_name ?? run.run_id}
                  </Link>
                  <StatusBadge status={run.status} bare />
                  <Duration start={run.start_time} end={null} />
                </li>
              ))}
            </ul>
          )
        }
      </QueryView>
    </Dialog>
  );
}

function DrainDialog({ worker, close }: { worker: WorkerView; close: () => void }) {
  const drain = useApiMutation("POST /v1/workers/{worker_id}/drain", {
    invalidates: ["GET /v1/workers"],
    done: () => {
      toast(`Draining ${worker.name}`);
      close();
    },
  });
  return (
    <ConfirmDialog title={`Drain ${worker.name}?`} close={close} action="Drain" act={() => drain.mutate({ path: { worker_id: worker.worker_id } })} busy={drain.isPending} error={drain.error}>
      <p>The worker finishes its current runs ({worker.running} now), takes no new ones, and stops. This cannot be undone; start another worker instead.</p>
      <p className="soft">If <code>rota up</code> started it, the scheduler and this dashboard stop as well.</p>
    </ConfirmDialog>
  );
}
