// The history of a job: who changed what, and through which interface.
import { usePagedQuery } from "../../api/queries.ts";
import type { JobChangeView, JobView } from "../../api/schema.gen.ts";
import { previewJson } from "../../lib/json.ts";
import { Card } from "../../ui/Card.tsx";
import { type Column, DataTable } from "../../ui/DataTable.tsx";
import { EmptyState, ErrorNote, Loading } from "../../ui/Notes.tsx";
import { Time } from "../../ui/Time.tsx";
import { describeDetails } from "./historyText.ts";

const COLUMNS: readonly Column<JobChangeView>[] = [
  { id: "version", head: "Version", num: true, cell: (entry) => entry.version ?? <span className="faint">–</span> },
  { id: "at", head: "Time", cell: (entry) => <Time at={entry.at} as="relative" /> },
  { id: "author", head: "Author", cell: (entry) => <span className="wrap">{entry.author}</span> },
  { id: "origin", head: "Origin", show: "middle", cell: (entry) => entry.origin ?? <span className="faint">–</span> },
  { id: "action", head: "Action", cell: (entry) => entry.action.replace(/^job\./, "") },
  { id: "changes", head: "Changes", cell: (entry) => <Changes entry={entry} /> },
];

function Changes({ entry }: { entry: JobChangeView }) {
  if (entry.changes.length === 0) return <span className="soft wrap">{describeDetails(entry) || "–"}</span>;
  return (
    <ul className="history-changes">
      {entry.changes.map((change) => (
        <li key={change.field} className="wrap">
          <strong>{change.field.replaceAll("_", " ")}</strong>{" "}
          {change.is_shown ? (
            <>
              <del className="mono">{previewJson(change.before, 160)}</del> <span aria-hidden="true">→</span> <ins className="mono">{previewJson(change.after, 160)}</ins>
            </>
          ) : (
            <span className="soft">changed</span>
          )}
        </li>
      ))}
    </ul>
  );
}

export function History({ job }: { job: JobView }) {
  const entries = usePagedQuery("GET /v1/jobs/{job_id}/history", { path: { job_id: job.job_id }, query: { limit: 100 } }, { on: ["job.changed"], where: ({ job_id }) => job_id === job.job_id, keepPrevious: true });
  return (
    <Card flush title={`Version ${job.version}`} aside={<span className="faint">Every change to the definition creates a new version</span>}>
      {entries.error && <ErrorNote error={entries.error} retry={entries.refetch} />}
      {entries.isPending && !entries.error ? (
        <Loading what="history" />
      ) : (
        <DataTable
          name={`Changes to ${job.name}`}
          rows={entries.rows}
          columns={COLUMNS}
          rowKey={(entry) => String(entry.id)}
          more={entries}
          empty={
            <EmptyState icon="book" title="No recorded changes">
              Changes made with earlier releases, or older than the audit log's retention, are not shown.
            </EmptyState>
          }
        />
      )}
    </Card>
  );
}
