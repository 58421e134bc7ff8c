// The audit log: who changed what, when and from where. Read-only.
import { useMemo, useState } from "react";
import { useSearchParams } from "wouter";
import { usePagedQuery } from "../../api/queries.ts";
import type { AuditView } from "../../api/schema.gen.ts";
import { previewJson } from "../../lib/json.ts";
import { withQuery } from "../../lib/url.ts";
import { Button } from "../../ui/Button.tsx";
import { Card, Facts, PageHead } from "../../ui/Card.tsx";
import { type Column, DataTable } from "../../ui/DataTable.tsx";
import { Dialog } from "../../ui/Dialog.tsx";
import { Picker, SearchField } from "../../ui/Fields.tsx";
import { Filters } from "../../ui/Filters.tsx";
import { JsonView } from "../../ui/JsonView.tsx";
import { EmptyState, ErrorNote, Loading } from "../../ui/Notes.tsx";
import { Time } from "../../ui/Time.tsx";
import { SPANS, RESOURCES, resourceOf, shortenId, sinceOf } from "./model.ts";

export default function AuditPage() {
  const [params, setParams] = useSearchParams();
  const set = (changes: Record<string, string | null>) => setParams(withQuery(params, changes), { replace: true });
  const query = useMemo(() => queryOf(params), [params]);
  const entries = usePagedQuery("GET /v1/audit", { query }, { keepPrevious: true });
  const [shown, show] = useState<AuditView | null>(null);
  const isFiltered = [...params.keys()].length > 0;
  return (
    <>
      <PageHead title="Audit" about="Every change with its actor and source. Reads of the audit log are recorded too." />
      <Card flush>
        <Filters name="Audit filters">
          <SearchField name="Actor" placeholder="Actor (exact match)" value={params.get("actor") ?? ""} change={(actor) => set({ actor })} />
          <SearchField name="Action" placeholder="Action, for example job.create" value={params.get("action") ?? ""} change={(action) => set({ action })} />
          <Picker name="Resource" value={params.get("thing") ?? ""} options={[{ value: "", label: "Any resource" }, ...RESOURCES]} change={(thing) => set({ thing })} />
          <Picker name="Since" value={params.get("since") ?? ""} options={SPANS} change={(since) => set({ since })} />
          {params.get("thing_id") && (
            <Button small icon="cross" onClick={() => set({ thing_id: null })} title={params.get("thing_id") ?? ""}>
              Only {shortenId(params.get("thing_id") ?? "")}
            </Button>
          )}
        </Filters>
        {entries.error && <ErrorNote error={entries.error} retry={entries.refetch} />}
        {entries.isPending && !entries.error ? (
          <Loading what="audit log" />
        ) : (
          <DataTable
            name="Changes"
            rows={entries.rows}
            columns={columnsOf(show, set)}
            rowKey={(entry) => String(entry.id)}
            more={entries}
            keys
            empty={
              <EmptyState
                title={isFiltered ? "No matches" : "No changes yet"}
                icon="book"
                action={isFiltered && <Button onClick={() => setParams(new URLSearchParams())}>Show all changes</Button>}
              >
                {isFiltered ? "Actor and action must match exactly." : "Changes to jobs, keys and secrets appear here."}
              </EmptyState>
            }
          />
        )}
      </Card>
      {shown && <Entry of={shown} close={() => show(null)} />}
    </>
  );
}

function queryOf(params: URLSearchParams): Record<string, string | number> {
  const query: Record<string, string | number> = { limit: 100 };
  for (const name of ["actor", "action", "thing", "thing_id"]) {
    const value = params.get(name);
    if (value) query[name] = value;
  }
  const since = sinceOf(params.get("since"), Date.now());
  return since === null ? query : { ...query, since };
}

function columnsOf(show: (entry: AuditView) => void, set: (changes: Record<string, string | null>) => void): Column<AuditView>[] {
  return [
    { id: "at", head: "Time", cell: (entry) => <Time at={entry.at} as="relative" /> },
    { id: "actor", head: "Actor", cell: (entry) => <span className="wrap">{entry.actor}</span> },
    {
      id: "action",
      head: "Action",
      cell: (entry) => (
        <button type="button" className="label" onClick={() => set({ action: entry.action })} title={`Only ${entry.action}`}>
          {entry.action}
        </button>
      ),
    },
    { id: "thing", head: "Resource", show: "middle", cell: (entry) => <span className="mono wrap">{resourceOf(entry).text}</span> },
    { id: "after", head: "After", show: "wide", cell: (entry) => <span className="faint mono">{entry.after === null ? "–" : previewJson(entry.after, 60)}</span> },
    {
      id: "details",
      head: "",
      num: true,
      cell: (entry) => (
        <Button small onClick={() => show(entry)} aria-label={`Details of ${entry.action}, entry ${entry.id}`}>
          Details
        </Button>
      ),
    },
  ];
}

function Entry({ of: entry, close }: { of: AuditView; close: () => void }) {
  const { text, href } = resourceOf(entry);
  return (
    <Dialog title={entry.action} close={close} wide>
      <Facts
        of={[
          ["Time", <Time key="at" at={entry.at} as="milli" />],
          ["Actor", entry.actor],
          ["Resource", href ? <a href={href}>{text}</a> : text],
          ["Key", <span key="key" className="mono">{entry.key_id ?? "–"}</span>],
          ["Source", entry.source ?? "–"],
          ["Request id", <span key="request" className="mono">{entry.request_id ?? "–"}</span>],
        ]}
      />
      {entry.before !== null && (
        <>
          <h3>Before</h3>
          <JsonView value={entry.before} name="before" />
        </>
      )}
      {entry.after !== null && (
        <>
          <h3>After</h3>
          <JsonView value={entry.after} name="after" />
        </>
      )}
    </Dialog>
  );
}
