// All runs, newest first, as they come and go: found by state, job, kind, queue and worker.
import { useMemo } from "react";
import { Link, useSearchParams } from "wouter";
import type { Query } from "../../api/client.ts";
import { useAsk, usePages } from "../../api/queries.ts";
import type { RunView } from "../../api/schema.gen.ts";
import { count } from "../../lib/figures.ts";
import { changed } from "../../lib/url.ts";
import { ButtonLink } from "../../ui/Button.tsx";
import { Card, PageHead, ProgressBar } from "../../ui/Card.tsx";
import { type Column, DataTable } from "../../ui/DataTable.tsx";
import { Picker, Segments } from "../../ui/Fields.tsx";
import { Filters } from "../../ui/Filters.tsx";
import { EmptyState, ErrorNote, Loading } from "../../ui/Notes.tsx";
import { StateBadge } from "../../ui/State.tsx";
import { Duration, Time } from "../../ui/Time.tsx";
import { ASKED, NAMES, VIEWS, reasonOf, statusesOf, viewOf } from "./model.ts";
import "./runs.css";

const PAGE = 100;
type RunsQuery = Query<"GET /v1/runs">;
type Set = (changes: Record<string, string | string[] | null>) => void;

export default function RunsPage() {
  const [params, setParams] = useSearchParams();
  const set: Set = (changes) => setParams(changed(params, changes), { replace: true });
  const query = useMemo(() => queryOf(params), [params]);
  const runs = usePages("GET /v1/runs", { query }, { on: ["run.made", "run.started", "run.ended", "run.progressed", "run.cancelling"], every: 15_000, keep: true });
  const isFiltered = [...params.keys()].length > 0;
  return (
    <>
      <PageHead title="Runs" />
      <Card flush>
        <Choosing params={params} set={set} />
        {runs.error && <ErrorNote error={runs.error} retry={runs.again} />}
        {runs.isPending && !runs.error ? (
          <Loading what="the runs" />
        ) : (
          <DataTable
            name="Runs"
            rows={runs.rows}
            columns={COLUMNS}
            rowKey={(run) => run.run_id}
            href={(run) => `/runs/${run.run_id}`}
            more={runs}
            keys
            empty={isFiltered ? <NothingFits hasMore={runs.hasMore} more={runs.more} /> : <NoRuns />}
            foot={runs.hasMore ? `The newest ${runs.rows.length}` : count(runs.rows.length, "run")}
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

function Choosing({ params, set }: { params: URLSearchParams; set: Set }) {
  const kinds = useAsk("GET /v1/kinds", {}, { staleTime: 60_000 });
  const queues = useAsk("GET /v1/queues", {}, { staleTime: 60_000 });
  const view = viewOf(statusesOf(params));
  const any = (name: string, values: readonly string[] | undefined, chosen: string | null) => [
    { value: "", label: name },
    ...[...new Set([...(values ?? []), ...(chosen ? [chosen] : [])])].sort().map((each) => ({ value: each, label: each })),
  ];
  const [kind, queue] = [params.get("kind"), params.get("queue")];
  return (
    <Filters name="Which runs">
      <Segments name="State" value={view ?? ("" as never)} options={VIEWS.map((each) => ({ value: each, label: NAMES[each] }))} change={(next) => set({ status: [...ASKED[next]] })} />
      <Picker name="Kind" value={kind ?? ""} options={any("Any kind", kinds.data?.data.map((each) => each.kind), kind)} change={(next) => set({ kind: next })} />
      <Picker name="Queue" value={queue ?? ""} options={any("Any queue", queues.data?.data.map((each) => each.name), queue)} change={(next) => set({ queue: next })} />
      <Only params={params} set={set} name="job_id" label="one job" />
      <Only params={params} set={set} name="worker_id" label="one worker" />
      <Only params={params} set={set} name="graph_run_id" label="one graph run" />
      {view === null && (
        <button type="button" className="label" onClick={() => set({ status: null })}>
          {statusesOf(params).join(", ")} ×
        </button>
      )}
    </Filters>
  );
}

/** What a link from elsewhere narrowed the list to; a click widens it again. */
function Only({ params, set, name, label }: { params: URLSearchParams; set: Set; name: string; label: string }) {
  const value = params.get(name);
  if (!value) return null;
  return (
    <button type="button" className="label" title={value} onClick={() => set({ [name]: null })}>
      of {label} ×
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
  { id: "state", head: "State", cell: (run) => <StateBadge state={run.status} /> },
  { id: "due", head: "Due", show: "middle", cell: (run) => <Time at={run.due_at} as="relative" /> },
  { id: "took", head: "Took", num: true, cell: (run) => <Duration start={run.start_time} end={run.end_time} /> },
  { id: "attempt", head: "Attempt", num: true, show: "wide", cell: (run) => run.attempt_number || "–" },
  { id: "kind", head: "Kind", show: "wide", cell: (run) => <span className="soft">{run.kind}</span> },
  { id: "queue", head: "Queue", show: "wide", cell: (run) => <span className="soft">{run.queue}</span> },
  { id: "why", head: "Why", show: "middle", cell: (run) => <span className="runs-why">{reasonOf(run) || "–"}</span> },
];

function NothingFits({ hasMore, more }: { hasMore: boolean; more: () => void }) {
  return (
    <EmptyState
      sign="search"
      title="No run fits."
      action={
        hasMore ? (
          <button type="button" className="button" onClick={more}>
            Look further back
          </button>
        ) : (
          <ButtonLink href="/runs">Show all runs</ButtonLink>
        )
      }
    >
      {hasMore ? "None among those that were looked at; there are older ones." : "Choose another state, kind or queue."}
    </EmptyState>
  );
}

function NoRuns() {
  return (
    <EmptyState sign="pulse" title="Nothing has run yet." action={<ButtonLink href="/jobs">Look at the jobs</ButtonLink>}>
      A run appears here as soon as a job is due, or somebody runs one.
    </EmptyState>
  );
}
