// Who changed a job, and what.
import { usePages } from "../../api/queries.ts";
import type { AuditView, JobView } from "../../api/schema.gen.ts";
import { glimpse } from "../../lib/json.ts";
import { Card } from "../../ui/Card.tsx";
import { type Column, DataTable } from "../../ui/DataTable.tsx";
import { EmptyState, ErrorNote, Loading } from "../../ui/Notes.tsx";
import { Time } from "../../ui/Time.tsx";
import { changesOf, saidBy, versionOf } from "./history.ts";

const COLUMNS: readonly Column<AuditView>[] = [
  { id: "at", head: "When", cell: (entry) => <Time at={entry.at} /> },
  { id: "actor", head: "Who", cell: (entry) => entry.actor },
  { id: "action", head: "What", cell: (entry) => entry.action.replace(/^job\./, "") },
  { id: "version", head: "Version", num: true, show: "middle", cell: (entry) => versionOf(entry) ?? <span className="faint">–</span> },
  { id: "changes", head: "Details", cell: (entry) => <Details entry={entry} /> },
  { id: "source", head: "From", show: "wide", cell: (entry) => <span className="faint">{entry.source ?? "–"}</span> },
];

function Details({ entry }: { entry: AuditView }) {
  const changes = changesOf(entry);
  if (changes.length === 0) return <span className="soft wrap">{saidBy(entry) || "–"}</span>;
  return (
    <ul className="history-changes">
      {changes.map((change) => (
        <li key={change.field} className="wrap">
          <strong>{change.field.replaceAll("_", " ")}</strong>{" "}
          {change.isUntold ? (
            <span className="soft">was changed</span>
          ) : (
            <>
              <del className="mono">{glimpse(change.before, 160)}</del> <span aria-hidden="true">→</span> <ins className="mono">{glimpse(change.after, 160)}</ins>
            </>
          )}
        </li>
      ))}
    </ul>
  );
}

export function History({ job }: { job: JobView }) {
  const entries = usePages("GET /v1/audit", { query: { thing: "job", thing_id: job.job_id, limit: 100 } }, { on: ["job.changed"], where: ({ job_id }) => job_id === job.job_id, keep: true });
  return (
    <Card flush title={`Version ${job.version}`} aside={<span className="faint">each change makes the next version</span>}>
      {entries.error && <ErrorNote error={entries.error} retry={entries.again} />}
      {entries.isPending && !entries.error ? (
        <Loading what="the history" />
      ) : (
        <DataTable
          name={`Changes of ${job.name}`}
          rows={entries.rows}
          columns={COLUMNS}
          rowKey={(entry) => String(entry.id)}
          more={entries}
          empty={
            <EmptyState sign="book" title="Nothing is on record.">
              Jobs that the server made by itself, such as the examples, begin without an entry.
            </EmptyState>
          }
        />
      )}
    </Card>
  );
}
