// Queues: what waits and runs in each, live. Admins create, pause and limit those of their tenant; a
// platform key acts for all tenants.
import { useState } from "react";
import { Link } from "wouter";
import { useAsk, useTell } from "../../api/queries.ts";
import type { QueueView } from "../../api/schema.gen.ts";
import { useMay } from "../../api/session.ts";
import { compact, count } from "../../lib/figures.ts";
import { link } from "../../lib/url.ts";
import { Button } from "../../ui/Button.tsx";
import { Card, Figure, Gauge, PageHead } from "../../ui/Card.tsx";
import { type Column, DataTable } from "../../ui/DataTable.tsx";
import { ConfirmDialog, FormDialog } from "../../ui/Dialog.tsx";
import { TextField } from "../../ui/Fields.tsx";
import { Menu } from "../../ui/Menu.tsx";
import { Answered, EmptyState } from "../../ui/Notes.tsx";
import { StateBadge } from "../../ui/State.tsx";
import { Duration } from "../../ui/Time.tsx";
import { toast } from "../../ui/Toast.tsx";
import { limitsOf, rateText, textOf } from "./model.ts";
import "./queues.css";

const QUEUE_NAME = /^[a-z0-9][a-z0-9._-]{0,62}$/;

type Asked = { to: "pause" | "limit"; queue: QueueView } | { to: "create" } | null;

export default function QueuesPage() {
  const queues = useAsk("GET /v1/queues", {}, { every: 3_000, on: ["run.made", "run.started", "run.ended"], keep: true });
  const mayManage = useMay("POST /v1/queues/{queue}/pause");
  const forAll = useMay("POST /v1/tenants");
  const [asked, ask] = useState<Asked>(null);
  const resume = useTell("POST /v1/queues/{queue}/resume", {
    spoils: ["GET /v1/queues"],
    done: (queue) => toast(`${queue.name} goes on.`),
  });
  const go = (queue: QueueView) =>
    resume.mutate({ path: { queue: queue.name } }, { onError: (error) => toast(`${queue.name} is still paused: ${error.message}.`, "bad") });
  return (
    <>
      <PageHead
        title="Queues"
        about={mayManage ? null : "The queues of your tenant. Admins create, pause and limit them."}
      >
        {mayManage && (
          <Button look="primary" sign="plus" onClick={() => ask({ to: "create" })}>
            Create queue
          </Button>
        )}
      </PageHead>
      <Card flush>
        <Answered asked={queues} what="the queues">
          {({ data }) => (
            <DataTable
              name="Queues"
              rows={data}
              columns={columnsOf(mayManage ? { ask, go, forAll } : null)}
              rowKey={(queue) => queue.name}
              keys
              foot={<Figure of="queue.count">{count(data.length, "queue")}</Figure>}
              empty={
                <EmptyState title="There are no queues." sign="stack">
                  A queue is created by an admin, or when a job names it.
                </EmptyState>
              }
            />
          )}
        </Answered>
      </Card>
      {asked?.to === "create" && <CreateDialog close={() => ask(null)} />}
      {asked?.to === "pause" && <PauseDialog queue={asked.queue} close={() => ask(null)} />}
      {asked?.to === "limit" && <LimitDialog queue={asked.queue} close={() => ask(null)} />}
    </>
  );
}

interface Acts {
  ask: (asked: Asked) => void;
  go: (queue: QueueView) => void;
  /** Whether it acts for all tenants, as a platform key does. */
  forAll: boolean;
}

function columnsOf(acts: Acts | null): Column<QueueView>[] {
  const columns: Column<QueueView>[] = [
    {
      id: "name",
      head: "Queue",
      cell: (queue) => (
        <div className="stack stack-tight">
          <Link className="table-main wrap" href={link("/runs", { queue: queue.name })}>
            {queue.name}
          </Link>
          <span className="queue-state">
            <StateBadge state={stateOf(queue)} bare />
          </span>
        </div>
      ),
    },
    { id: "state", head: "State", show: "middle", cell: (queue) => <StateBadge state={stateOf(queue)} /> },
    { id: "running", head: "Running", cell: (queue) => <Figure of="queue.running"><Gauge name={`Running in ${queue.name}`} value={queue.running} most={queue.max} /></Figure> },
    { id: "waiting", head: "Waiting", num: true, cell: (queue) => <Figure of="queue.waiting">{counted(queue.waiting)}</Figure> },
    { id: "later", head: "Later", num: true, show: "wide", cell: (queue) => <Figure of="queue.later">{counted(queue.later)}</Figure> },
    { id: "oldest", head: "Longest wait", num: true, show: "middle", cell: (queue) => <Figure of="queue.oldest_wait"><Duration start={queue.oldest_waiting_since} end={null} /></Figure> },
    { id: "rate", head: "Rate", show: "wide", cell: (queue) => rateText(queue) ?? <span className="faint">no limit</span> },
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
            // What was paused for all tenants, a tenant cannot resume.
            queue.is_paused && (acts.forAll || !queue.is_paused_for_all)
              ? { label: "Resume", sign: "play", act: () => acts.go(queue) }
              : { label: "Pause", sign: "pause", act: () => acts.ask({ to: "pause", queue }) },
            { label: "Change limits", sign: "filter", act: () => acts.ask({ to: "limit", queue }) },
          ]}
        />
      ),
    },
  ];
}

function stateOf(queue: QueueView): string {
  return queue.is_paused ? "paused" : "active";
}

/** Nobody counts further. */
function counted(number: number): string {
  return number > 10_000 ? "> 10 k" : compact(number);
}

function CreateDialog({ close }: { close: () => void }) {
  const [name, setName] = useState("");
  const create = useTell("POST /v1/queues", {
    spoils: ["GET /v1/queues"],
    done: (queue) => {
      toast(`${queue.name} is created.`);
      close();
    },
  });
  return (
    <FormDialog title="Create queue" close={close} action="Create" act={() => create.mutate({ body: { name } })} busy={create.isPending} error={create.error} disabled={!QUEUE_NAME.test(name)}>
      <TextField label="Name" value={name} change={setName} mono autoFocus hint="1 to 63 of a-z, 0-9, dot, dash and underscore." />
    </FormDialog>
  );
}

function PauseDialog({ queue, close }: { queue: QueueView; close: () => void }) {
  const forAll = useMay("POST /v1/tenants");
  const pause = useTell("POST /v1/queues/{queue}/pause", {
    spoils: ["GET /v1/queues"],
    done: () => {
      toast(`${queue.name} is paused.`);
      close();
    },
  });
  return (
    <ConfirmDialog title={`Pause ${queue.name}?`} close={close} action="Pause" act={() => pause.mutate({ path: { queue: queue.name } })} busy={pause.isPending} error={pause.error}>
      <p>Nothing of this queue starts any more{forAll ? ", for any tenant" : ""}; what runs goes on. Runs that become due wait.</p>
    </ConfirmDialog>
  );
}

function LimitDialog({ queue, close }: { queue: QueueView; close: () => void }) {
  const [text, setText] = useState(() => textOf(queue));
  const read = limitsOf(text);
  const limit = useTell("PUT /v1/queues/{queue}/limits", {
    spoils: ["GET /v1/queues"],
    done: () => {
      toast(`The limits of ${queue.name} are changed.`);
      close();
    },
  });
  const act = () => {
    if (read.limits) limit.mutate({ path: { queue: queue.name }, body: read.limits });
  };
  return (
    <FormDialog title={`Limit ${queue.name}`} close={close} action="Change" act={act} busy={limit.isPending} error={limit.error} disabled={read.limits === null}>
      <TextField label="At a time" inputMode="numeric" value={text.max} change={(max) => setText({ ...text, max })} error={read.errors.max} hint="How many may run at once; empty for no limit." autoFocus />
      <TextField label="Starts" inputMode="numeric" value={text.count} change={(count) => setText({ ...text, count })} error={read.errors.count} hint="How many may start per time; empty for no limit." />
      <TextField label="Per" value={text.per} change={(per) => setText({ ...text, per })} error={read.errors.per} mono hint="As in 1m or 10s." />
      <TextField label="Burst" inputMode="numeric" value={text.burst} change={(burst) => setText({ ...text, burst })} error={read.errors.burst} hint="How many of them at once after a quiet time." />
    </FormDialog>
  );
}
