// The list of silences, which can be ended early.
import { useApiMutation, usePagedQuery } from "../../api/queries.ts";
import type { SilenceView } from "../../api/schema.gen.ts";
import { useMay } from "../../api/session.ts";
import { formatCount } from "../../lib/figures.ts";
import { Button } from "../../ui/Button.tsx";
import { Card } from "../../ui/Card.tsx";
import { type Column, DataTable } from "../../ui/DataTable.tsx";
import { EmptyState, ErrorNote, Loading } from "../../ui/Notes.tsx";
import { StatusBadge } from "../../ui/StatusBadge.tsx";
import { Time } from "../../ui/Time.tsx";
import { toast } from "../../ui/Toast.tsx";
import { type MatchFields, describeMatch } from "./model.ts";

export function Silences() {
  const silences = usePagedQuery("GET /v1/silences", { query: { ended: true, limit: 50 } }, { every: 10_000, keepPrevious: true });
  const mayEnd = useMay("DELETE /v1/silences/{silence_id}");
  return (
    <Card flush>
      {silences.error && <ErrorNote error={silences.error} retry={silences.refetch} />}
      {silences.isPending && !silences.error ? (
        <Loading what="silences" />
      ) : (
        <DataTable
          name="Silences"
          rows={silences.rows}
          columns={mayEnd ? [...COLUMNS, ACTIONS] : COLUMNS}
          rowKey={(silence) => silence.silence_id}
          more={silences}
          keys
          foot={formatCount(silences.rows.length, "silence")}
          empty={
            <EmptyState icon="pause" title="No silences">
              A silence holds messages back for a time, for example during a deployment. The checks go on.
            </EmptyState>
          }
        />
      )}
    </Card>
  );
}

const COLUMNS: readonly Column<SilenceView>[] = [
  {
    id: "match",
    head: "Applies to",
    cell: (silence) => (
      <div className="stack stack-tight">
        <span className="table-main wrap">{describeMatch(silence.match as MatchFields)}</span>
        <span className="soft wrap">{silence.reason}</span>
      </div>
    ),
  },
  { id: "state", head: "State", show: "middle", cell: (silence) => <StatusBadge status={`silence_${silence.state}`} /> },
  { id: "starts", head: "Starts", show: "wide", cell: (silence) => <Time at={silence.starts_at} as="relative" /> },
  { id: "ends", head: "Ends", cell: (silence) => <Time at={silence.ends_at} as="relative" /> },
  { id: "calendar", head: "Calendar", show: "wide", cell: (silence) => silence.calendar ?? <span className="faint">–</span> },
  { id: "by", head: "Created by", show: "wide", cell: (silence) => <span className="wrap">{silence.created_by}</span> },
];

const ACTIONS: Column<SilenceView> = { id: "actions", head: "", num: true, cell: (silence) => <End silence={silence} /> };

function End({ silence }: { silence: SilenceView }) {
  const end = useApiMutation("DELETE /v1/silences/{silence_id}", {
    invalidates: ["GET /v1/silences", "GET /v1/incidents", "GET /v1/problems"],
    done: () => toast("Silence ended"),
  });
  if (silence.state === "ended") return null;
  return (
    <Button
      small
      disabled={end.isPending}
      aria-label={`End silence of ${describeMatch(silence.match as MatchFields)}`}
      onClick={() => end.mutate({ path: { silence_id: silence.silence_id } }, { onError: (error) => toast(`Could not end the silence: ${error.message}`, "bad") })}
    >
      End
    </Button>
  );
}
