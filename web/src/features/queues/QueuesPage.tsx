// The list of queues with their waiting and running runs, live. Admins create, pause and limit the
// queues of their tenant; a platform key acts for all tenants.
import { useState } from "react";
import { Link } from "wouter";
import { useApiQuery, useApiMutation } from "../../api/queries.ts";
import type { QueueView } from "../../api/schema.gen.ts";
import { useMay } from "../../api/session.ts";
import { formatCompact, formatCount } from "../../lib/figures.ts";
import { linkTo } from "../../lib/url.ts";
import { Button } from "../../ui/Button.tsx";
import { Card, Figure, Gauge, PageHead } from "../../ui/Card.tsx";
import { type Column, DataTable } from "../../ui/DataTable.tsx";
import { ConfirmDialog, FormDialog } from "../../ui/Dialog.tsx";
import { TextField } from "../../ui/Fields.tsx";
import { Menu } from "../../ui/Menu.tsx";
import { QueryView, EmptyState } from "../../ui/Notes.tsx";
import { StatusBadge } from "../../ui/StatusBadge.tsx";
import { Duration } from "../../ui/Time.tsx";
import { toast } from "../../ui/Toast.tsx";
import { limitsOf, rateText, textOf } from "./model.ts";
import "./queues.css";

const QUEUE_NAME = /^[a-z0-9][a-z0-9._-]{0,62}$/;

type OpenDialog = { action: "pause" | "limit"; queue: QueueView } | { action: "create" } | null;

export default function QueuesPage() {
  const queues = useApiQuery("GET /v1/queues", {}, { every: 3_000, on: ["run.made", "run.started", "run.ended"], keepPrevious: true });
  const mayManage = useMay("POST /v1/queues/{queue}/pause");
  const forAll = useMay("POST /v1/tenants");
  const [dialog, openDialog] = useState<OpenDialog>(null);
  const resume = useApiMutation("POST /v1/queues/{queue}/resume", {
    invalidates: ["GET /v1/queues"],
    done: (queue) => toast(`Resumed ${queue.name}`),
  });
  const resumeQueue = (queue: QueueView) =>
    resume.mutate({ path: { queue: queue.name } }, { onError: (error) => toast(`Could not resume ${queue.name}: ${error.message}`, "bad") });
  return (
    <>
      <PageHead
        title="Queues"
        about={mayManage ? null : "Queues of your tenant. Admins can create, pause and limit them."}
      >
        {mayManage && (
          <Button look="primary" icon="plus" onClick={() => openDialog({ action: "create" })}>
            Create queue
          </Button>
        )}
      </PageHead>
      <Card flush>
        <QueryView query={queues} what="queues">
          {({ data }) => (
            <DataTable
              name="Queues"
              rows={data}
              columns={columnsOf(mayManage ? { openDialog: openDialog, resumeQueue, forAll } : null)}
              rowKey={(queue) => queue.name}
              keys
              foot={<Figure of="queue.count">{formatCount(data.length, "queue")}</Figure>}
              empty={
                <EmptyState title="No queues" icon="stack">
                  An admin creates a queue, or Rota creates it when a job names it.
                </EmptyState>
              }
            />
          )}
        </QueryView>
      </Card>
      {dialog?.action === "create" && <CreateDialog close={() => openDialog(null)} />}
      {dialog?.action === "pause" && <PauseDialog queue={dialog.queue} close={() => openDialog(null)} />}
      {dialog?.action === "limit" && <LimitDialog queue={dialog.queue} close={() => openDialog(null)} />}
    </>
  );
}

interface Acts {
  openDialog: (dialog: OpenDialog) => void;
  resumeQueue: (queue: QueueView) => void;
  /** Whether actions apply to all tenants, as with a platform key. */
  forAll: boolean;
}

function columnsOf(acts: Acts | null): Column<QueueView>[] {
  const columns: Column<QueueView>[] = [
    {
      id: "name",
      head: "Queue",
      cell: (queue) => (
        <div className="stack stack-tight">
          <Link className="table-main wrap" href={linkTo("/runs", { queue: queue.name })}>
            {queue.name}
          </Link>
          <span className="queue-state">
            <StatusBadge status={stateOf(queue)} bare />
          </span>
        </div>
      ),
    },
    { id: "state", head: "Status", show: "middle", cell: (queue) => <StatusBadge status={stateOf(queue)} /> },
    { id: "running", head: "Running", cell: (queue) => <Figure of="queue.running"><Gauge name={`Running in ${queue.name}`} value={queue.running} max={queue.max} /></Figure> },
    { id: "waiting", head: "Waiting", num: true, cell: (queue) => <Figure of="queue.waiting">{counted(queue.waiting)}</Figure> },
    { id: "later", head: "Delayed", num: true, show: "wide", cell: (queue) => <Figure of="queue.later">{counted(queue.later)}</Figure> },
    { id: "oldest", head: "Longest wait", num: true, show: "middle", cell: (queue) => <Figure of="queue.oldest_wait"><Duration start={queue.oldest_waiting_since} end={null} /></Figure> },
    { id: "rate", head: "Rate limit", show: "wide", cell: (queue) => rateText(queue) ?? <span className="faint">no limit</span> },
  ];
  if (acts === null) return columns;
  return [
    ...columns,
    {
      id: "actions",
      head: "",
      num: true,
      cell: (queue) => (
        <Menu
          name={`Actions for ${queue.name}`}
          items={[
            // A tenant cannot resume a queue that is paused for all tenants.
            queue.is_paused && (acts.forAll || !queue.is_paused_for_all)
              ? { label: "Resume", icon: "play", act: () => acts.resumeQueue(queue) }
              : { label: "Pause", icon: "pause", act: () => acts.openDialog({ action: "pause", queue }) },
            { label: "Edit limits", icon: "filter", act: () => acts.openDialog({ action: "limit", queue }) },
          ]}
        />
      ),
    },
  ];
}

function stateOf(queue: QueueView): string {
  return queue.is_paused ? "paused" : "active";
}

/** The API stops counting at 10,000. */
function counted(number: number): string {
  return number > 10_000 ? "> 10 k" : formatCompact(number);
}

function CreateDialog({ close }: { close: () => void }) {
  const [name, setName] = useState("");
  const create = useApiMutation("POST /v1/queues", {
    invalidates: ["GET /v1/queues"],
    done: (queue) => {
      toast(`Created queue ${queue.name}`);
      close();
    },
  });
  return (
    <FormDialog title="New queue" close={close} action="Create queue" act={() => create.mutate({ body: { name } })} busy={create.isPending} error={create.error} disabled={!QUEUE_NAME.test(name)}>
      <TextField label="Name" value={name} change={setName} mono autoFocus hint="1 to 63 characters: a-z, 0-9, dot, dash and underscore." />
    </FormDialog>
  );
}

function PauseDialog({ queue, close }: { queue: QueueView; close: () => void }) {
  const forAll = useMay("POST /v1/tenants");
  const pause = useApiMutation("POST /v1/queues/{queue}/pause", {
    invalidates: ["GET /v1/queues"],
    done: () => {
      toast(`Paused ${queue.name}`);
      close();
    },
  });
  return (
    <ConfirmDialog title={`Pause ${queue.name}?`} close={close} action="Pause" act={() => pause.mutate({ path: { queue: queue.name } })} busy={pause.isPending} error={pause.error}>
      <p>No run of this queue starts until it is resumed{forAll ? ", for any tenant" : ""}. Active runs continue; due runs wait.</p>
    </ConfirmDialog>
  );
}

function LimitDialog({ queue, close }: { queue: QueueView; close: () => void }) {
  const [text, setText] = useState(() => textOf(queue));
  const read = limitsOf(text);
  const limit = useApiMutation("PUT /v1/queues/{queue}/limits", {
    invalidates: ["GET /v1/queues"],
    done: () => {
      toast(`Saved limits of ${queue.name}`);
      close();
    },
  });
  const act = () => {
    if (read.limits) limit.mutate({ path: { queue: queue.name }, body: read.limits });
  };
  return (
    <FormDialog title={`Limits of ${queue.name}`} close={close} action="Save" act={act} busy={limit.isPending} error={limit.error} disabled={read.limits === null}>
      <TextField label="Max concurrent runs" inputMode="numeric" value={text.max} change={(max) => setText({ ...text, max })} error={read.errors.max} hint="Empty: no limit." autoFocus />
      <TextField label="Max starts" inputMode="numeric" value={text.count} change={(count) => setText({ ...text, count })} error={read.errors.count} hint="Runs that may start per period. Empty: no limit." />
      <TextField label="Period" value={text.per} change={(per) => setText({ ...text, per })} error={read.errors.per} mono hint="For example 1m or 10s." />
      <TextField label="Burst" inputMode="numeric" value={text.burst} change={(burst) => setText({ ...text, burst })} error={read.errors.burst} hint="Runs that may start at once after an idle period." />
    </FormDialog>
  );
}
