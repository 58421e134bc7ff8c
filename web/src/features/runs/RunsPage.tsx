// The list of runs, newest first and live, with filters by status, job, kind, queue and worker.
import { useMemo } from "react";
import { Link, useSearchParams } from "wouter";
import type { Query } from "../../api/client.ts";
import { useApiQuery, usePagedQuery } from "../../api/queries.ts";
import type { RunView } from "../../api/schema.gen.ts";
import { formatCount } from "../../lib/figures.ts";
import { withQuery } from "../../lib/url.ts";
import { ButtonLink } from "../../ui/Button.tsx";
import { Card, PageHead, ProgressBar } from "../../ui/Card.tsx";
import { type Column, DataTable } from "../../ui/DataTable.tsx";
import { Picker, Segments } from "../../ui/Fields.tsx";
import { Filters } from "../../ui/Filters.tsx";
import { EmptyState, ErrorNote, Loading } from "../../ui/Notes.tsx";
import { StatusBadge } from "../../ui/StatusBadge.tsx";
import { Duration, Time } from "../../ui/Time.tsx";
import { VIEW_STATUSES, VIEW_NAMES, VIEWS, reasonOf, statusesOf, viewOf } from "./model.ts";
import "./runs.css";

const PAGE = 100;
type RunsQuery = Query<"GET /v1/runs">;
type Set = (changes: Record<string, string | string[] | null>) => void;

export default function RunsPage() {
  const [params, setParams] = useSearchParams();
  const set: Set = (changes) => setParams(withQuery(params, changes), { replace: true });
  const query = useMemo(() => queryOf(params), [params]);
  const runs = usePagedQuery("GET /v1/runs", { query }, { on: ["run.made", "run.started", "run.ended", "run.progressed", "run.cancelling"], every: 15_000, keepPrevious: true });
  const isFiltered = [...params.keys()].length > 0;
  return (
    <>
      <PageHead title="Runs" />
      <Card flush>
        <RunFilters params={params} set={set} />
        {runs.error && <ErrorNote error={runs.error} retry={runs.refetch} />}
        {runs.isPending && !runs.error ? (
          <Loading what="runs" />
        ) : (
          <DataTable
            name="Runs"
            rows={runs.rows}
            columns={COLUMNS}
            rowKey={(run) => run.run_id}
            href={(run) => `/runs/${run.run_id}`}
            more={runs}
            keys
            empty={isFiltered ? <NoMatches hasMore={runs.hasMore} more={runs.loadMore} /> : <NoRuns />}
            foot={runs.hasMore ? `Newest ${runs.rows.length}` : formatCount(runs.rows.length, "run")}
          />
        )}
      </Card>
    </>
  );
}

function queryOf(params: URLSearchParams): RunsQuery {
  const one = (name: string) => params.get(name) || undefined;
  return {
    status: statusesOf(params),
    job_id: one("job_id"),
    kind: one("kind"),
    queue: one("queue"),
    worker_id: one("worker_id"),
    graph_run_id: one("graph_run_id"),
    limit: PAGE,
  };
}

function RunFilters({ params, set }: { params: URLSearchParams; set: Set }) {
  const kinds = useApiQuery("GET /v1/kinds", {}, { staleTime: 60_000 });
  const queues = useApiQuery("GET /v1/queues", {}, { staleTime: 60_000 });
  const view = viewOf(statusesOf(params));
  const any = (name: string, values: readonly string[] | undefined, chosen: string | null) => [
    { value: "", label: name },
    ...[...new Set([...(values ?? []), ...(chosen ? [chosen] : [])])].sort().map((each) => ({ value: each, label: each })),
  ];
  const [kind, queue] = [params.get("kind"), params.get("queue")];
  return (
    <Filters name="Run filters">
      <Segments name="Status" value={view ?? ("" as never)} options={VIEWS.map((option) => ({ value: option, label: VIEW_NAMES[option] }))} change={(next) => set({ status: [...VIEW_STATUSES[next]] })} />
      <Picker name="Kind" value={kind ?? ""} options={any("Any kind", kinds.data?.data.map((each) => each.kind), kind)} change={(next) => set({ kind: next })} />
      <Picker name="Queue" value={queue ?? ""} options={any("Any queue", queues.data?.data.map((each) => each.name), queue)} change={(next) => set({ queue: next })} />
      <FilterChip params={params} set={set} name="job_id" label="This job only" />
      <FilterChip params={params} set={set} name="worker_id" label="This worker only" />
      <FilterChip params={params} set={set} name="graph_run_id" label="This graph run only" />
      {view === null && (
        <button type="button" className="label" onClick={() => set({ status: null })}>
          {statusesOf(params).join(", ")} ×
        </button>
      )}
    </Filters>
  );
}

/** A filter that a link from another page set; a click removes it. */
function FilterChip({ params, set, name, label }: { params: URLSearchParams; set: Set; name: string; label: string }) {
  const value = params.get(name);
  if (!value) return null;
  return (
    <button type="button" className="label" title={value} onClick={() => set({ [name]: null })}>
      {label} ×
    </button>
  );
}

const COLUMNS: readonly Column<RunView>[] = [
  {
    id: "job",
    head: "Job",
    cell: (run) => (
      <div className="stack stack-tight">
        <Link href={`/runs/${run.run_id}`} className="table-main wrap">
          {run.job_name ?? run.run_id}
        </Link>
        {run.progress !== null && run.status === "running" && <ProgressBar share={run.progress} name={`Progress of ${run.job_name ?? run.run_id}`} />}
      </div>
    ),
  },
  { id: "state", head: "Status", cell: (run) => <StatusBadge status={run.status} /> },
  { id: "due", head: "Due", show: "middle", cell: (run) => <Time at={run.due_at} as="relative" /> },
  { id: "took", head: "Duration", num: true, cell: (run) => <Duration start={run.start_time} end={run.end_time} /> },
  { id: "attempt", head: "Attempt", num: true, show: "wide", cell: (run) => run.attempt_number || "–" },
  { id: "kind", head: "Kind", show: "wide", cell: (run) => <span className="soft">{run.kind}</span> },
  { id: "queue", head: "Queue", show: "wide", cell: (run) => <span className="soft">{run.queue}</span> },
  { id: "why", head: "Reason", show: "middle", cell: (run) => <span className="runs-why">{reasonOf(run) || "–"}</span> },
];

function NoMatches({ hasMore, more }: { hasMore: boolean; more: () => void }) {
  return (
    <EmptyState
      icon="search"
      title="No matches"
      action={
        hasMore ? (
          <button type="button" className="button" onClick={more}>
            Search older runs
          </button>
        ) : (
          <ButtonLink href="/runs">Show all runs</ButtonLink>
        )
      }
    >
      {hasMore ? "No matches among the runs searched so far." : "Choose another status, kind or queue."}
    </EmptyState>
  );
}

function NoRuns() {
  return (
    <EmptyState icon="pulse" title="No runs yet" action={<ButtonLink href="/jobs">Show jobs</ButtonLink>}>
      Runs appear here when a job is due or is run on demand.
    </EmptyState>
  );
}
