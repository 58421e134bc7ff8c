// The list of webhook endpoints: what they subscribed to, and whether deliveries arrive.
import { useState } from "react";
import { Link, useLocation } from "wouter";
import { useApiMutation, usePagedQuery } from "../../api/queries.ts";
import type { WebhookView } from "../../api/schema.gen.ts";
import { useMay } from "../../api/session.ts";
import { formatCompact, formatCount } from "../../lib/figures.ts";
import { Button } from "../../ui/Button.tsx";
import { Card, PageHead } from "../../ui/Card.tsx";
import { type Column, DataTable } from "../../ui/DataTable.tsx";
import { FormDialog } from "../../ui/Dialog.tsx";
import { CheckField, TextField } from "../../ui/Fields.tsx";
import { EmptyState, ErrorNote, Loading } from "../../ui/Notes.tsx";
import { StatusBadge } from "../../ui/StatusBadge.tsx";
import { Time } from "../../ui/Time.tsx";
import { SecretDialog } from "./SecretDialog.tsx";
import { describeSubscription, healthOf, splitEvents } from "./model.ts";

export default function WebhooksPage() {
  const webhooks = usePagedQuery("GET /v1/webhooks", { query: { limit: 50 } }, { every: 10_000, keepPrevious: true });
  const mayCreate = useMay("POST /v1/webhooks");
  const [isCreating, create] = useState(false);
  return (
    <>
      <PageHead title="Webhooks" about="Endpoints of other systems that get signed events about runs, jobs and incidents.">
        {mayCreate && (
          <Button look="primary" icon="plus" onClick={() => create(true)}>
            Create webhook
          </Button>
        )}
      </PageHead>
      <Card flush>
        {webhooks.error && <ErrorNote error={webhooks.error} retry={webhooks.refetch} />}
        {webhooks.isPending && !webhooks.error ? (
          <Loading what="webhooks" />
        ) : (
          <DataTable
            name="Webhooks"
            rows={webhooks.rows}
            columns={COLUMNS}
            rowKey={(webhook) => webhook.webhook_id}
            href={(webhook) => `/webhooks/${webhook.webhook_id}`}
            more={webhooks}
            keys
            foot={formatCount(webhooks.rows.length, "webhook")}
            empty={
              <EmptyState icon="out" title="No webhooks">
                Create one here or with <code>rota webhooks create URL --on run.failed</code>.
              </EmptyState>
            }
          />
        )}
      </Card>
      {isCreating && <CreateDialog close={() => create(false)} />}
    </>
  );
}

const COLUMNS: readonly Column<WebhookView>[] = [
  {
    id: "name",
    head: "Endpoint",
    cell: (webhook) => (
      <div className="stack stack-tight">
        <Link className="table-main wrap" href={`/webhooks/${webhook.webhook_id}`}>
          {webhook.name}
        </Link>
        <span className="soft wrap">{webhook.url}</span>
      </div>
    ),
  },
  { id: "state", head: "State", cell: (webhook) => <StatusBadge status={healthOf(webhook)} /> },
  { id: "events", head: "Events", show: "middle", cell: (webhook) => <span className="wrap">{describeSubscription(webhook.events, webhook.filter)}</span> },
  { id: "success", head: "Last success", show: "wide", cell: (webhook) => <Time at={webhook.last_success_at} as="relative" /> },
  { id: "waiting", head: "Waiting", num: true, show: "middle", cell: (webhook) => formatCompact(Math.max(webhook.pending, webhook.held)) },
];

function CreateDialog({ close }: { close: () => void }) {
  const [url, setUrl] = useState("");
  const [name, setName] = useState("");
  const [events, setEvents] = useState("run.failed");
  const [allowHttp, setAllowHttp] = useState(false);
  const [, navigate] = useLocation();
  const create = useApiMutation("POST /v1/webhooks", { invalidates: ["GET /v1/webhooks"] });
  if (create.data) {
    const { webhook_id, secret } = create.data;
    return (
      <SecretDialog
        secret={secret}
        close={() => {
          close();
          navigate(`/webhooks/${webhook_id}`);
        }}
      />
    );
  }
  const act = () => create.mutate({ body: { url: url.trim(), events: splitEvents(events), allow_http: allowHttp, ...(name.trim() ? { name: name.trim() } : {}) } });
  return (
    <FormDialog title="New webhook" close={close} action="Create webhook" act={act} busy={create.isPending} error={create.error} disabled={url.trim() === "" || splitEvents(events).length === 0}>
      <TextField label="URL" value={url} change={setUrl} type="url" autoFocus mono placeholder="https://hooks.example.com/rota" />
      <TextField label="Events" value={events} change={setEvents} mono hint="Types or patterns, separated by commas: run.failed, incident.*, job.changed." />
      <TextField label="Name" value={name} change={setName} hint="Empty: the host of the URL." />
      <CheckField label="Allow a URL without TLS, readable on the way" checked={allowHttp} change={setAllowHttp} />
    </FormDialog>
  );
}
