// Who changed a job, by which means, and what.
import { usePages } from "../../api/queries.ts";
import type { JobChangeView, JobView } from "../../api/schema.gen.ts";
import { glimpse } from "../../lib/json.ts";
import { Card } from "../../ui/Card.tsx";
import { type Column, DataTable } from "../../ui/DataTable.tsx";
import { EmptyState, ErrorNote, Loading } from "../../ui/Notes.tsx";
import { Time } from "../../ui/Time.tsx";
import { saidBy } from "./history.ts";

const COLUMNS: readonly Column<JobChangeView>[] = [
  { id: "version", head: "Version", num: true, cell: (entry) => entry.version ?? <span className="faint">–</span> },
  { id: "at", head: "When", cell: (entry) => <Time at={entry.at} /> },
  { id: "author", head: "Author", cell: (entry) => <span className="wrap">{entry.author}</span> },
  { id: "origin", head: "Origin", show: "middle", cell: (entry) => entry.origin ?? <span className="faint">–</span> },
  { id: "action", head: "Action", cell: (entry) => entry.action.replace(/^job\./, "") },
  { id: "changes", head: "Changes", cell: (entry) => <Changes entry={entry} /> },
];

function Changes({ entry }: { entry: JobChangeView }) {
  if (entry.changes.length === 0) return <span className="soft wrap">{saidBy(entry) || "–"}</span>;
  return (
    <ul className="history-changes">
      {entry.changes.map((change) => (
        <li key={change.field} className="wrap">
          <strong>{change.field.replaceAll("_", " ")}</strong>{" "}
          {change.is_shown ? (
            <>
              <del className="mono">{glimpse(change.before, 160)}</del> <span aria-hidden="true">→</span> <ins className="mono">{glimpse(change.after, 160)}</ins>
            </>
          ) : (
            <span className="soft">was changed</span>
          )}
        </li>
      ))}
    </ul>
  );
}

export function History({ job }: { job: JobView }) {
  const entries = usePages("GET /v1/jobs/{job_id}/history", { path: { job_id: job.job_id }, query: { limit: 100 } }, { on: ["job.changed"], where: ({ job_id }) => job_id === job.job_id, keep: true });
  return (
    <Card flush title={`Version ${job.version}`} aside={<span className="faint">Each change of the definition makes the next version</span>}>
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
            <EmptyState sign="book" title="No changes are on record.">
              Changes by releases before this one, and changes older than the retention of the audit log, are not shown.
            </EmptyState>
          }
        />
      )}
    </Card>
  );
}
