// The list of received events, with the jobs that each event matched.
import { useState } from "react";
import { Link, useSearchParams } from "wouter";
import { usePagedQuery, useApiMutation } from "../../api/queries.ts";
import type { EventView, MatchView } from "../../api/schema.gen.ts";
import { useMay } from "../../api/session.ts";
import { formatCount } from "../../lib/figures.ts";
import { previewJson, parseJson } from "../../lib/json.ts";
import { withQuery } from "../../lib/url.ts";
import { Button } from "../../ui/Button.tsx";
import { Card, Facts, PageHead } from "../../ui/Card.tsx";
import { type Column, DataTable } from "../../ui/DataTable.tsx";
import { Dialog, FormDialog } from "../../ui/Dialog.tsx";
import { JsonField, SearchField, TextField } from "../../ui/Fields.tsx";
import { Filters } from "../../ui/Filters.tsx";
import { JsonView } from "../../ui/JsonView.tsx";
import { EmptyState, ErrorNote, Loading } from "../../ui/Notes.tsx";
import { StatusBadge } from "../../ui/StatusBadge.tsx";
import { Time } from "../../ui/Time.tsx";
import { toast } from "../../ui/Toast.tsx";

export default function EventsPage() {
  const [params, setParams] = useSearchParams();
  const set = (changes: Record<string, string | null>) => setParams(withQuery(params, changes), { replace: true });
  const events = usePagedQuery("GET /v1/events", { query: { type: params.get("type") || undefined, limit: 50 } }, { every: 5_000, on: ["run.made"], keepPrevious: true });
  const [isSending, send] = useState(false);
  const maySend = useMay("POST /v1/events");
  const chosen = events.rows.find((event) => event.event_id === params.get("event"));
  return (
    <>
      <PageHead title="Events" about="Received events and the runs they started.">
        {maySend && (
          <Button look="primary" icon="bolt" onClick={() => send(true)}>
            Send event
          </Button>
        )}
      </PageHead>
      <Card flush>
        <Filters name="Event filters">
          <SearchField name="Event type" value={params.get("type") ?? ""} change={(type) => set({ type })} />
        </Filters>
        {events.error && <ErrorNote error={events.error} retry={events.refetch} />}
        {events.isPending && !events.error ? (
          <Loading what="events" />
        ) : (
          <DataTable
            name="Events"
            rows={events.rows}
            columns={columnsOf((event) => set({ event: event.event_id }))}
            rowKey={(event) => event.event_id}
            more={events}
            keys
            foot={formatCount(events.rows.length, "event")}
            empty={
              <EmptyState icon="bolt" title={params.get("type") ? "No matches" : "No events yet"}>
                Send one with <code>POST /v1/events</code> or <code>rota events send</code>, or connect a source.
              </EmptyState>
            }
          />
        )}
      </Card>
      {chosen && <EventDialog event={chosen} close={() => set({ event: null })} />}
      {isSending && <SendDialog close={() => send(false)} />}
    </>
  );
}

function columnsOf(open: (event: EventView) => void): Column<EventView>[] {
  return [
    {
      id: "type",
      head: "Type",
      cell: (event) => (
        <button type="button" className="link-button table-main wrap" onClick={() => open(event)}>
          {event.type}
        </button>
      ),
    },
    { id: "received", head: "Received", cell: (event) => <Time at={event.received_at} as="relative" /> },
    { id: "source", head: "Source", show: "middle", cell: (event) => <span className="soft wrap">{event.source}</span> },
    { id: "data", head: "Data", show: "wide", cell: (event) => <span className="soft mono wrap">{previewJson(event.data, 60)}</span> },
    { id: "runs", head: "Runs started", num: true, cell: (event) => started(event.matches) },
  ];
}

function started(matches: readonly MatchView[]): string {
  const runs = matches.filter((match) => match.outcome === "matched").length;
  return runs > 0 ? formatCount(runs, "run") : "–";
}

const OUTCOMES: Record<MatchView["outcome"], string> = { matched: "succeeded", gathered: "pending", filtered: "skipped", paused: "paused", failed: "failed" };

function EventDialog({ event, close }: { event: EventView; close: () => void }) {
  return (
    <Dialog title={event.type} close={close} wide>
      <Facts
        of={[
          ["Source", event.source],
          ["Id", <span className="mono wrap">{event.id}</span>],
          event.subject !== null && ["Subject", event.subject],
          ["Occurred", <Time at={event.time} as="milli" />],
          ["Received", <Time at={event.received_at} as="milli" />],
        ]}
      />
      <JsonView value={event.data} name="Data" />
      <h3>Matching jobs</h3>
      {event.matches.length === 0 ? (
        <p className="soft">No job listens for this event type.</p>
      ) : (
        <ul className="plain-rows">
          {event.matches.map((match) => (
            <li key={`${match.job_id} ${match.replay ?? ""}`} className="row row-apart">
              <Link href={`/jobs/${match.job_id}`} className="grow wrap">
                {match.job_name ?? match.job_id}
              </Link>
              <span className="soft wrap">{match.why}</span>
              {match.run_id ? <Link href={`/runs/${match.run_id}`}>Open run</Link> : <StatusBadge status={OUTCOMES[match.outcome]} bare />}
            </li>
          ))}
        </ul>
      )}
    </Dialog>
  );
}

function SendDialog({ close }: { close: () => void }) {
  const [type, setType] = useState("");
  const [data, setData] = useState("{}");
  const found = parseJson(data);
  const send = useApiMutation("POST /v1/events", {
    invalidates: ["GET /v1/events"],
    done: () => {
      toast("Sent the event");
      close();
    },
  });
  return (
    <FormDialog title="New event" action="Send event" close={close} act={() => send.mutate({ body: { type, data: found.value, source: "dashboard" } })} busy={send.isPending} error={send.error} disabled={type === "" || found.error !== null}>
      <TextField label="Type" hint="Jobs listen for a type, for example order.paid." value={type} change={setType} mono />
      <JsonField label="Data" text={data} change={setData} />
    </FormDialog>
  );
}
