// Events that came in, and what each was for the jobs that wait for its type.
import { useState } from "react";
import { Link, useSearchParams } from "wouter";
import { usePages, useTell } from "../../api/queries.ts";
import type { EventView, MatchView } from "../../api/schema.gen.ts";
import { useMay } from "../../api/session.ts";
import { count } from "../../lib/figures.ts";
import { glimpse, read } from "../../lib/json.ts";
import { changed } from "../../lib/url.ts";
import { Button } from "../../ui/Button.tsx";
import { Card, Facts, PageHead } from "../../ui/Card.tsx";
import { type Column, DataTable } from "../../ui/DataTable.tsx";
import { Dialog, FormDialog } from "../../ui/Dialog.tsx";
import { JsonField, SearchField, TextField } from "../../ui/Fields.tsx";
import { Filters } from "../../ui/Filters.tsx";
import { JsonView } from "../../ui/Json.tsx";
import { EmptyState, ErrorNote, Loading } from "../../ui/Notes.tsx";
import { StateBadge } from "../../ui/State.tsx";
import { Time } from "../../ui/Time.tsx";
import { toast } from "../../ui/Toast.tsx";

export default function EventsPage() {
  const [params, setParams] = useSearchParams();
  const set = (changes: Record<string, string | null>) => setParams(changed(params, changes), { replace: true });
  const events = usePages("GET /v1/events", { query: { type: params.get("type") || undefined, limit: 50 } }, { every: 5_000, on: ["run.made"], keep: true });
  const [isSending, send] = useState(false);
  const maySend = useMay("POST /v1/events");
  const chosen = events.rows.find((event) => event.event_id === params.get("event"));
  return (
    <>
      <PageHead title="Events" about="What happened elsewhere, and the runs that it started.">
        {maySend && (
          <Button look="primary" sign="bolt" onClick={() => send(true)}>
            Send an event
          </Button>
        )}
      </PageHead>
      <Card flush>
        <Filters name="Which events">
          <SearchField name="Type of event" value={params.get("type") ?? ""} change={(type) => set({ type })} />
        </Filters>
        {events.error && <ErrorNote error={events.error} retry={events.again} />}
        {events.isPending && !events.error ? (
          <Loading what="the events" />
        ) : (
          <DataTable
            name="Events"
            rows={events.rows}
            columns={columnsOf((event) => set({ event: event.event_id }))}
            rowKey={(event) => event.event_id}
            more={events}
            keys
            foot={count(events.rows.length, "event")}
            empty={
              <EmptyState sign="bolt" title={params.get("type") ? "No event of this type." : "No event has come in yet."}>
                Send one with <code>POST /v1/events</code> or <code>rota events send</code>, or let a source bring them.
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
    { id: "data", head: "Data", show: "wide", cell: (event) => <span className="soft mono wrap">{glimpse(event.data, 60)}</span> },
    { id: "runs", head: "Started", num: true, cell: (event) => started(event.matches) },
  ];
}

function started(matches: readonly MatchView[]): string {
  const runs = matches.filter((each) => each.outcome === "matched").length;
  return runs > 0 ? count(runs, "run") : "–";
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
          ["Happened", <Time at={event.time} as="milli" />],
          ["Received", <Time at={event.received_at} as="milli" />],
        ]}
      />
      <JsonView value={event.data} name="Data" />
      <h3>What it was for whom</h3>
      {event.matches.length === 0 ? (
        <p className="soft">No job waits for this type.</p>
      ) : (
        <ul className="plain-rows">
          {event.matches.map((match) => (
            <li key={`${match.job_id} ${match.replay ?? ""}`} className="row row-apart">
              <Link href={`/jobs/${match.job_id}`} className="grow wrap">
                {match.job_name ?? match.job_id}
              </Link>
              <span className="soft wrap">{match.why}</span>
              {match.run_id ? <Link href={`/runs/${match.run_id}`}>its run</Link> : <StateBadge state={OUTCOMES[match.outcome]} bare />}
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
  const found = read(data);
  const send = useTell("POST /v1/events", {
    spoils: ["GET /v1/events"],
    done: () => {
      toast("The event was taken.");
      close();
    },
  });
  return (
    <FormDialog title="Send an event" action="Send" close={close} act={() => send.mutate({ body: { type, data: found.value, source: "dashboard" } })} busy={send.isPending} error={send.error} disabled={type === "" || found.error !== null}>
      <TextField label="Type" hint="As in order.paid: jobs wait for a type." value={type} change={setType} mono />
      <JsonField label="Data" text={data} change={setData} />
    </FormDialog>
  );
}
