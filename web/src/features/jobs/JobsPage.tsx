// All jobs: found by name, state, kind, queue and label; sorted; with how their last runs went.
import { useEffect, useMemo } from "react";
import { Link, useSearchParams } from "wouter";
import type { Query } from "../../api/client.ts";
import { type Recent, useRecent } from "../../api/outcomes.ts";
import { useAsk, usePages } from "../../api/queries.ts";
import type { JobView, OutcomeView } from "../../api/schema.gen.ts";
import { useMay } from "../../api/session.ts";
import { count } from "../../lib/figures.ts";
import { changed, link } from "../../lib/url.ts";
import { ButtonLink } from "../../ui/Button.tsx";
import { Card, PageHead } from "../../ui/Card.tsx";
import { type Column, DataTable } from "../../ui/DataTable.tsx";
import { Picker, SearchField } from "../../ui/Fields.tsx";
import { EmptyState, ErrorNote, Loading } from "../../ui/Notes.tsx";
import { StateBadge } from "../../ui/State.tsx";
import { Sparks } from "../../ui/Strip.tsx";
import { Time, ZONE, useNow } from "../../ui/Time.tsx";
import { JobMenu } from "./JobMenu.tsx";
import { outcomes, reasonOf, sorted, sorting, when } from "./model.ts";
import "./jobs.css";

const TYPES = ["one_time", "all"] as const;
const STATES = ["active", "running", "pending", "paused", "quarantined", "finished"] as const;
/** So many are read at once; to sort by something else than age, all up to the second number. */
const PAGE = 200;
const ALL = 2_000;
/** Of so many rows the latest runs are asked for. */
const WATCHED = 100;

export default function JobsPage() {
  const [params, setParams] = useSearchParams();
  const set = (changes: Record<string, string | null>) => setParams(changed(params, changes), { replace: true });
  const query = useMemo(() => queryOf(params), [params]);
  const jobs = usePages("GET /v1/jobs", { query }, { on: ["job.changed", ...(query.type ? (["run.made", "run.ended"] as const) : [])], every: 10_000, keep: true });
  const sort = sorting(params.get("sort"));
  const { hasMore, isFetching, more, rows } = jobs;
  useEffect(() => {
    if (sort && hasMore && !isFetching && rows.length < ALL) more();
  }, [sort, hasMore, isFetching, more, rows.length]);
  const ids = useMemo(() => rows.slice(0, WATCHED).map((job) => job.job_id), [rows]);
  const recent = useRecent(ids);
  const shown = useMemo(() => sorted(rows, sort, recent), [rows, sort, recent]);
  const columns = useMemo(() => columnsOf(recent), [recent]);
  const isFiltered = [...params.keys()].some((name) => name !== "sort");
  const mayDefine = useMay("POST /v1/jobs");
  return (
    <>
      <PageHead title="Jobs">
        {mayDefine && (
          <ButtonLink href="/jobs/new" look="primary" sign="plus">
            New job
          </ButtonLink>
        )}
      </PageHead>
      <Card flush>
        <Filters params={params} set={set} />
        {jobs.error && <ErrorNote error={jobs.error} retry={jobs.again} />}
        {jobs.isPending && !jobs.error ? (
          <Loading what="the jobs" />
        ) : (
          <DataTable
            name="Jobs"
            rows={shown}
            columns={columns}
            rowKey={(job) => job.job_id}
            href={(job) => `/jobs/${job.job_id}`}
            sort={sort}
            onSort={({ by, down }) => set({ sort: `${down ? "-" : ""}${by}` })}
            more={jobs}
            keys
            empty={isFiltered ? <NothingFits /> : <NoJobs mayDefine={mayDefine} />}
            foot={footed(rows.length, hasMore, sort !== null)}
          />
        )}
      </Card>
    </>
  );
}

type JobsQuery = Query<"GET /v1/jobs">;

function queryOf(params: URLSearchParams): JobsQuery {
  const status = params.getAll("status").filter((each) => (STATES as readonly string[]).includes(each));
  const one = (name: string) => params.get(name) || undefined;
  const label = one("label");
  const type = one("type");
  return {
    type: TYPES.find((each) => each === type),
    status: status as NonNullable<JobsQuery["status"]>,
    q: one("q"),
    kind: one("kind"),
    queue: one("queue"),
    label: label?.includes(":") ? label : undefined,
    limit: PAGE,
  };
}

function footed(number: number, hasMore: boolean, isSorted: boolean): string {
  if (!hasMore) return count(number, "job");
  return isSorted ? `Sorted among the newest ${number}; search or filter for the others.` : `The newest ${number}`;
}

function Filters({ params, set }: { params: URLSearchParams; set: (changes: Record<string, string | null>) => void }) {
  const kinds = useAsk("GET /v1/kinds", {}, { staleTime: 60_000 });
  const queues = useAsk("GET /v1/queues", {}, { staleTime: 60_000 });
  const label = params.get("label");
  const any = (name: string, values: readonly string[]) => [{ value: "", label: name }, ...values.map((each) => ({ value: each, label: each }))];
  return (
    <div className="filters">
      <SearchField name="Search jobs by name" value={params.get("q") ?? ""} change={(q) => set({ q })} />
      <Picker
        name="Type"
        value={params.get("type") ?? ""}
        options={[
          { value: "", label: "Definitions" },
          { value: "one_time", label: "One-time" },
          { value: "all", label: "Definitions and one-time" },
        ]}
        change={(type) => set({ type })}
      />
      <Picker name="State" value={params.get("status") ?? ""} options={any("Any state", STATES)} change={(status) => set({ status })} />
      <Picker name="Kind" value={params.get("kind") ?? ""} options={any("Any kind", withChosen(kinds.data?.data.map((each) => each.kind), params.get("kind")))} change={(kind) => set({ kind })} />
      <Picker name="Queue" value={params.get("queue") ?? ""} options={any("Any queue", withChosen(queues.data?.data.map((each) => each.name), params.get("queue")))} change={(queue) => set({ queue })} />
      {label && (
        <button type="button" className="label filters-label" onClick={() => set({ label: null })} title="Any label">
          {label} ×
        </button>
      )}
    </div>
  );
}

/** What the URL says is offered even if nobody serves it any more. */
function withChosen(values: readonly string[] | undefined, chosen: string | null): string[] {
  return [...new Set([...(values ?? []), ...(chosen ? [chosen] : [])])].sort();
}

function columnsOf(recent: Recent): Column<JobView>[] {
  return [
    { id: "name", head: "Name", sort: true, cell: (job) => <Named job={job} /> },
    { id: "status", head: "State", sort: true, cell: (job) => <StateBadge state={job.status} /> },
    { id: "when", head: "When", show: "wide", cell: (job) => <span className="soft mono">{when(job)}</span> },
    { id: "next", head: "Next", sort: true, show: "middle", cell: (job) => <Next job={job} /> },
    { id: "last", head: "Last", sort: true, show: "middle", cell: (job) => <Last run={recent.get(job.job_id)?.[0]} /> },
    { id: "recent", head: "Recent", show: "middle", cell: (job) => <Sparks name={`Last runs of ${job.name}`} outcomes={outcomes(recent.get(job.job_id) ?? [], ZONE)} /> },
    { id: "kind", head: "Kind", sort: true, show: "wide", cell: (job) => <span className="soft">{job.kind}</span> },
    { id: "actions", head: "", cell: (job) => <JobMenu job={job} /> },
  ];
}

function Named({ job }: { job: JobView }) {
  const labels = Object.entries(job.labels);
  return (
    <div className="jobs-name">
      <Link href={`/jobs/${job.job_id}`} className="table-main wrap">
        {job.name}
      </Link>
      {labels.slice(0, 3).map(([key, value]) => (
        <Link key={key} className="label" href={link("/jobs", { label: `${key}:${value}` })}>
          {key}:{value}
        </Link>
      ))}
      {labels.length > 3 && <span className="faint">+{labels.length - 3}</span>}
    </div>
  );
}

/** What was next when the list was read may have come since. */
function Next({ job }: { job: JobView }) {
  const isPast = useNow() >= Date.parse(job.next_run_at ?? "");
  if (isPast && job.status !== "paused") return <span title={job.next_run_at ?? ""}>now</span>;
  return <Time at={job.status === "paused" ? null : job.next_run_at} as="relative" />;
}

function Last({ run }: { run: OutcomeView | undefined }) {
  if (!run) return <span className="faint">–</span>;
  return (
    <Link href={`/runs/${run.run_id}`} className="jobs-last" title={reasonOf(run)}>
      <StateBadge state={run.status} bare />
      <span className="faint">
        <Time at={run.end_time ?? run.start_time ?? run.scheduled_at} as="relative" />
      </span>
    </Link>
  );
}

function NothingFits() {
  return (
    <EmptyState sign="search" title="No job fits." action={<ButtonLink href="/jobs">Show all jobs</ButtonLink>}>
      The search looks at names; the other fields at what a job is now.
    </EmptyState>
  );
}

function NoJobs({ mayDefine }: { mayDefine: boolean }) {
  return (
    <EmptyState
      sign="list"
      title="There is no job yet."
      action={
        mayDefine && (
          <ButtonLink href="/jobs/new" look="primary" sign="plus">
            New job
          </ButtonLink>
        )
      }
    >
      One-time submissions are listed under <Link href={link("/jobs", { type: "one_time" })}>One-time</Link>. Make a job here, with <code>rota jobs create</code>, or from Python with <code>@app.job</code>.
    </EmptyState>
  );
}
