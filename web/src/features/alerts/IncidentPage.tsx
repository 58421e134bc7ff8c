// The page of an incident: what is wrong, its thread, and the messages that were sent about it.
import { useState } from "react";
import { Link, useParams } from "wouter";
import { useApiMutation, useApiQuery } from "../../api/queries.ts";
import type { IncidentView } from "../../api/schema.gen.ts";
import { useMay } from "../../api/session.ts";
import { formatInteger } from "../../lib/figures.ts";
import { Button, ButtonLink } from "../../ui/Button.tsx";
import { Card, Facts, PageHead } from "../../ui/Card.tsx";
import { CopyButton } from "../../ui/CopyButton.tsx";
import { DataTable } from "../../ui/DataTable.tsx";
import { FormDialog } from "../../ui/Dialog.tsx";
import { AreaField } from "../../ui/Fields.tsx";
import { JsonView } from "../../ui/JsonView.tsx";
import { EmptyState, Note, QueryView } from "../../ui/Notes.tsx";
import { StatusBadge } from "../../ui/StatusBadge.tsx";
import { TextWithTimes, Time } from "../../ui/Time.tsx";
import { toast } from "../../ui/Toast.tsx";
import { SilenceDialog } from "./SilenceDialog.tsx";
import { conditionLabel, matchOf, subjectHref } from "./model.ts";
import "./alerts.css";

const SPOILS = ["GET /v1/incidents", "GET /v1/incidents/{incident_id}", "GET /v1/problems"] as const;

export default function IncidentPage() {
  const { id = "" } = useParams<{ id: string }>();
  const incident = useApiQuery("GET /v1/incidents/{incident_id}", { path: { incident_id: id } }, { every: 5_000 });
  if (incident.error && "status" in incident.error && (incident.error.status === 404 || incident.error.status === 422)) {
    return (
      <EmptyState icon="search" title="Incident not found" action={<ButtonLink href="/alerts">Show all incidents</ButtonLink>}>
        It may be older than the retention period.
      </EmptyState>
    );
  }
  return (
    <QueryView query={incident} what="incident">
      {(found) => <Loaded key={found.incident_id} incident={found} />}
    </QueryView>
  );
}

function Loaded({ incident }: { incident: IncidentView }) {
  const href = subjectHref(incident);
  return (
    <>
      <PageHead
        title={incident.title}
        trail={<Link href="/alerts">Alerts</Link>}
        about={
          <span className="row">
            <StatusBadge status={incident.severity} />
            <StatusBadge status={incident.state} />
            <span>
              Opened <Time at={incident.opened_at} as="relative" />
            </span>
          </span>
        }
      >
        <Actions incident={incident} />
      </PageHead>
      {incident.silenced_until && incident.state !== "resolved" && (
        <Note tone="idle" icon="pause" small>
          Silenced until <Time at={incident.silenced_until} />: no messages are sent; the checks go on.
        </Note>
      )}
      {incident.inhibited_by && incident.state !== "resolved" && (
        <Note tone="idle" small>
          Explained by another incident ({conditionLabel(incident.inhibited_by)}), so no message names it.
        </Note>
      )}
      {incident.is_flapping && (
        <Note tone="warn" small>
          It opens and ends again and again. No more messages are sent until it is steady for 30 minutes.
        </Note>
      )}
      <div className="grid-2">
        <Card title="Thread">
          <Thread entries={incident.thread ?? []} />
        </Card>
        <Card title="Details">
          <Facts
            of={[
              ["Condition", conditionLabel(incident.condition)],
              ["Expectation", incident.expectation.name],
              ["Subject", href ? <Link key="subject" href={href}>{`${incident.subject.kind} ${incident.subject.name}`}</Link> : `${incident.subject.kind} ${incident.subject.name}`],
              incident.run_id !== null && ["Run", <Link key="run" href={`/runs/${incident.run_id}`}>{incident.run_id}</Link>],
              ["Count", formatInteger(incident.count)],
              ["Opened", <Time key="opened" at={incident.opened_at} />],
              incident.acknowledged_at !== null && ["Acknowledged", <span key="acknowledged"><Time at={incident.acknowledged_at} /> by {incident.acknowledged_by}</span>],
              incident.resolved_at !== null && ["Resolved", <span key="resolved"><Time at={incident.resolved_at} />{incident.resolved_by && ` by ${incident.resolved_by}`}</span>],
              incident.resolution !== null && ["Reason", incident.resolution],
            ]}
          />
        </Card>
      </div>
      <Card flush title="Messages">
        <Messages incident={incident} />
      </Card>
      {Object.keys(incident.facts).length > 0 && (
        <Card title="Facts">
          <JsonView value={incident.facts} name="Facts" />
        </Card>
      )}
      <div className="row faint mono">
        {incident.incident_id} <CopyButton text={incident.incident_id} name="Copy id" />
      </div>
    </>
  );
}

type OpenDialog = "note" | "resolve" | "silence" | null;

function Actions({ incident }: { incident: IncidentView }) {
  const [dialog, open] = useState<OpenDialog>(null);
  const mayAct = useMay("POST /v1/incidents/{incident_id}/acknowledge");
  const maySilence = useMay("POST /v1/silences");
  const acknowledge = useApiMutation("POST /v1/incidents/{incident_id}/acknowledge", { invalidates: SPOILS, done: () => toast("Acknowledged") });
  const match = matchOf(incident.subject);
  const isOver = incident.state === "resolved";
  const close = () => open(null);
  if (!mayAct) return null;
  return (
    <>
      {incident.state === "open" && (
        <Button
          look="primary"
          icon="check"
          disabled={acknowledge.isPending}
          onClick={() => acknowledge.mutate({ path: { incident_id: incident.incident_id } }, { onError: (error) => toast(`Could not acknowledge: ${error.message}`, "bad") })}
        >
          Acknowledge
        </Button>
      )}
      <Button icon="edit" onClick={() => open("note")}>
        Add note
      </Button>
      {!isOver && maySilence && match && (
        <Button icon="pause" onClick={() => open("silence")}>
          Silence
        </Button>
      )}
      {!isOver && (
        <Button icon="stop" onClick={() => open("resolve")}>
          Resolve
        </Button>
      )}
      {dialog === "note" && <NoteDialog incident={incident} close={close} />}
      {dialog === "resolve" && <ResolveDialog incident={incident} close={close} />}
      {dialog === "silence" && match && <SilenceDialog match={match} close={close} />}
    </>
  );
}

function NoteDialog({ incident, close }: { incident: IncidentView; close: () => void }) {
  const [text, setText] = useState("");
  const note = useApiMutation("POST /v1/incidents/{incident_id}/notes", {
    invalidates: SPOILS,
    done: () => {
      toast("Note added");
      close();
    },
  });
  return (
    <FormDialog title="Add note" close={close} action="Add note" act={() => note.mutate({ path: { incident_id: incident.incident_id }, body: { text } })} busy={note.isPending} error={note.error} disabled={text.trim() === ""}>
      <AreaField label="Note" value={text} change={setText} rows={4} maxLength={2000} autoFocus hint="Everyone who can see the incident can read it." />
    </FormDialog>
  );
}

function ResolveDialog({ incident, close }: { incident: IncidentView; close: () => void }) {
  const resolve = useApiMutation("POST /v1/incidents/{incident_id}/resolve", {
    invalidates: SPOILS,
    done: () => {
      toast("Resolved");
      close();
    },
  });
  return (
    <FormDialog title="Resolve incident" close={close} action="Resolve" act={() => resolve.mutate({ path: { incident_id: incident.incident_id } })} busy={resolve.isPending} error={resolve.error}>
      <p>An incident ends by itself when its expectation is met again. Resolve it if that cannot happen. If it is violated again, a new incident opens.</p>
    </FormDialog>
  );
}

function Thread({ entries }: { entries: NonNullable<IncidentView["thread"]> }) {
  if (entries.length === 0) return <p className="soft">No entries</p>;
  return (
    <ol className="thread">
      {entries.map((entry, place) => (
        <li key={place}>
          <div className="row">
            <strong>{conditionLabel(entry.type)}</strong>
            {entry.by && <span className="soft">by {entry.by}</span>}
            <span className="faint">
              <Time at={entry.at} as="relative" />
            </span>
          </div>
          {entry.text && (
            <p className="wrap thread-text">
              <TextWithTimes text={entry.text} />
            </p>
          )}
        </li>
      ))}
    </ol>
  );
}

function Messages({ incident }: { incident: IncidentView }) {
  const rows = incident.notifications ?? [];
  return (
    <DataTable
      name="Messages"
      rows={rows}
      rowKey={(message) => message.notification_id}
      columns={[
        { id: "channel", head: "Channel", cell: (message) => <span className="wrap">{message.channel}</span> },
        { id: "kind", head: "Message", cell: (message) => conditionLabel(message.kind) },
        { id: "state", head: "State", cell: (message) => <StatusBadge status={message.state} /> },
        { id: "sent", head: "Sent", show: "middle", cell: (message) => <Time at={message.sent_at} as="relative" /> },
        { id: "attempts", head: "Attempts", num: true, show: "middle", cell: (message) => message.attempts },
        { id: "error", head: "Error", show: "wide", cell: (message) => message.error && <span className="bad-text wrap">{message.error}</span> },
      ]}
      empty={
        <EmptyState icon="bolt" title="No messages">
          Messages go to the channels of its route, or to the default channels. Without channels, incidents are only shown here.
        </EmptyState>
      }
    />
  );
}
