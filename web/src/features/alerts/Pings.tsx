// Pings: work that runs elsewhere and reports to a URL. A missing or failed report opens an incident.
import { useState } from "react";
import { useApiMutation, usePagedQuery } from "../../api/queries.ts";
import type { PingView } from "../../api/schema.gen.ts";
import { useMay } from "../../api/session.ts";
import { formatCount } from "../../lib/figures.ts";
import { shortenIsoDuration } from "../../lib/time.ts";
import { Button } from "../../ui/Button.tsx";
import { Card } from "../../ui/Card.tsx";
import { CopyButton } from "../../ui/CopyButton.tsx";
import { type Column, DataTable } from "../../ui/DataTable.tsx";
import { ConfirmDialog, Dialog, FormDialog } from "../../ui/Dialog.tsx";
import { TextField } from "../../ui/Fields.tsx";
import { Menu } from "../../ui/Menu.tsx";
import { EmptyState, ErrorNote, Loading, Note } from "../../ui/Notes.tsx";
import { StatusBadge } from "../../ui/StatusBadge.tsx";
import { Time } from "../../ui/Time.tsx";
import { toast } from "../../ui/Toast.tsx";
import { describePingSchedule, pingOf } from "./model.ts";

export function Pings() {
  const pings = usePagedQuery("GET /v1/pings", { query: { limit: 50 } }, { every: 10_000, keepPrevious: true });
  const mayCreate = useMay("POST /v1/pings");
  const [isCreating, create] = useState(false);
  const [deleting, askDelete] = useState<PingView | null>(null);
  return (
    <>
      <Card
        flush
        title="Pings"
        aside={
          mayCreate && (
            <Button small icon="plus" onClick={() => create(true)}>
              Create ping
            </Button>
          )
        }
      >
        {pings.error && <ErrorNote error={pings.error} retry={pings.refetch} />}
        {pings.isPending && !pings.error ? (
          <Loading what="pings" />
        ) : (
          <DataTable
            name="Pings"
            rows={pings.rows}
            columns={mayCreate ? [...COLUMNS, actionsOf(askDelete)] : COLUMNS}
            rowKey={(ping) => ping.ping_id}
            more={pings}
            keys
            foot={formatCount(pings.rows.length, "ping")}
            empty={
              <EmptyState icon="pulse" title="No pings">
                Work that runs elsewhere, such as a backup, requests a URL when it is done. If the request does not arrive in time, an incident opens.
              </EmptyState>
            }
          />
        )}
      </Card>
      {isCreating && <CreateDialog close={() => create(false)} />}
      {deleting && <DeleteDialog ping={deleting} close={() => askDelete(null)} />}
    </>
  );
}

const COLUMNS: readonly Column<PingView>[] = [
  {
    id: "name",
    head: "Ping",
    cell: (ping) => (
      <div className="stack stack-tight">
        <span className="table-main wrap">{ping.name}</span>
        <span className="soft wrap">
          {describePingSchedule(ping.schedule)}, grace {shortenIsoDuration(ping.grace)}
        </span>
      </div>
    ),
  },
  { id: "state", head: "State", cell: (ping) => <StatusBadge status={`ping_${ping.state}`} /> },
  { id: "success", head: "Last success", show: "middle", cell: (ping) => <Time at={ping.succeeded_at} as="relative" /> },
  { id: "failure", head: "Last failure", show: "wide", cell: (ping) => <Time at={ping.failed_at} as="relative" /> },
  { id: "overdue", head: "Overdue", show: "middle", cell: (ping) => <Time at={ping.overdue_at} as="relative" /> },
];

function actionsOf(askDelete: (ping: PingView) => void): Column<PingView> {
  return {
    id: "actions",
    head: "",
    num: true,
    cell: (ping) => <Menu name={`Actions for ${ping.name}`} items={[{ label: "Delete", icon: "trash", danger: true, act: () => askDelete(ping) }]} />,
  };
}

function CreateDialog({ close }: { close: () => void }) {
  const [name, setName] = useState("");
  const [schedule, setSchedule] = useState("1d");
  const [grace, setGrace] = useState("1h");
  const create = useApiMutation("POST /v1/pings", { invalidates: ["GET /v1/pings"] });
  if (create.data) return <UrlDialog path={create.data.ping_url} close={close} />;
  return (
    <FormDialog title="New ping" close={close} action="Create ping" act={() => create.mutate({ body: pingOf({ name, schedule, grace }) })} busy={create.isPending} error={create.error} disabled={name.trim() === "" || schedule.trim() === ""}>
      <TextField label="Name" value={name} change={setName} autoFocus maxLength={200} />
      <TextField label="Expected" value={schedule} change={setSchedule} mono hint="How often, for example 1d; or a cron expression in UTC, for example 30 2 * * *." />
      <TextField label="Grace" value={grace} change={setGrace} mono hint="How late a success may be." />
    </FormDialog>
  );
}

/** The URL contains the token, which is shown only once. */
function UrlDialog({ path, close }: { path: string; close: () => void }) {
  const url = new URL(path, window.location.origin).toString();
  return (
    <Dialog
      title="Ping URL"
      close={close}
      foot={
        <Button look="primary" onClick={close}>
          Done
        </Button>
      }
    >
      <Note tone="warn">Copy the URL now. Rota does not show it again.</Note>
      <div className="row">
        <code className="wrap grow">{url}</code>
        <CopyButton text={url} name="Copy URL" />
      </div>
      <p className="soft">
        Request it when the work is done. <code>/start</code>, <code>/fail</code> and <code>/log</code> behind it report the beginning, a failure and a text.
      </p>
    </Dialog>
  );
}

function DeleteDialog({ ping, close }: { ping: PingView; close: () => void }) {
  const remove = useApiMutation("DELETE /v1/pings/{ping_id}", {
    invalidates: ["GET /v1/pings", "GET /v1/incidents", "GET /v1/problems"],
    done: () => {
      toast(`Deleted ${ping.name}`);
      close();
    },
  });
  return (
    <ConfirmDialog title={`Delete ${ping.name}?`} close={close} action="Delete ping" act={() => remove.mutate({ path: { ping_id: ping.ping_id } })} busy={remove.isPending} error={remove.error}>
      <p>Its URL stops working, and its open incident ends.</p>
    </ConfirmDialog>
  );
}
