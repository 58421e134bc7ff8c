// The list of jobs: search, filters by status, kind, queue and label, sorting, and recent outcomes.
import { useEffect, useMemo } from "react";
import { Link, useSearchParams } from "wouter";
import type { Query } from "../../api/client.ts";
import { type RecentRuns, useRecentRuns } from "../../api/outcomes.ts";
import { useApiQuery, usePagedQuery } from "../../api/queries.ts";
import type { JobView, OutcomeView } from "../../api/schema.gen.ts";
import { useMay } from "../../api/session.ts";
import { formatCount } from "../../lib/figures.ts";
import { withQuery, linkTo } from "../../lib/url.ts";
import { ButtonLink } from "../../ui/Button.tsx";
import { Card, PageHead } from "../../ui/Card.tsx";
import { type Column, DataTable } from "../../ui/DataTable.tsx";
import { Picker, SearchField } from "../../ui/Fields.tsx";
import { EmptyState, ErrorNote, Loading } from "../../ui/Notes.tsx";
import { StatusBadge } from "../../ui/StatusBadge.tsx";
import { Sparks } from "../../ui/OutcomeStrip.tsx";
import { Time, ZONE, hoverText, useNow } from "../../ui/Time.tsx";
import { JobMenu } from "./JobMenu.tsx";
import { toOutcomes, reasonOf, sortJobs, parseSort, summarizeSchedule } from "./model.ts";
import "./jobs.css";

const TYPES = ["one_time", "all"] as const;
const STATES = ["active", "running", "pending", "paused", "quarantined", "finished"] as const;
/** Jobs per request, and the most jobs to load for sorting by anything but age. */
const PAGE = 200;
const ALL = 2_000;
/** The number of rows whose recent runs are loaded. */
const WATCHED = 100;

export default function JobsPage() {
  const [params, setParams] = useSearchParams();
  const set = (changes: Record<string, string | null>) => setParams(withQuery(params, changes), { replace: true });
  const query = useMemo(() => queryOf(params), [params]);
  const jobs = usePagedQuery("GET /v1/jobs", { query }, { on: ["job.changed", ...(query.type ? (["run.made", "run.ended"] as const) : [])], every: 10_000, keepPrevious: true });
  const sort = parseSort(params.get("sort"));
  const { hasMore, isFetching, loadMore, rows } = jobs;
  useEffect(() => {
    if (sort && hasMore && !isFetching && rows.length < ALL) loadMore();
  }, [sort, hasMore, isFetching, loadMore, rows.length]);
  const ids = useMemo(() => rows.slice(0, WATCHED).map((job) => job.job_id), [rows]);
  const recent = useRecentRuns(ids);
  const shown = useMemo(() => sortJobs(rows, sort, recent), [rows, sort, recent]);
  const columns = useMemo(() => columnsOf(recent), [recent]);
  const isFiltered = [...params.keys()].some((name) => name !== "sort");
  const mayDefine = useMay("POST /v1/jobs");
  return (
    <>
      <PageHead title="Jobs">
        {mayDefine && (
          <ButtonLink href="/jobs/new" look="primary" icon="plus">
            Create job
          </ButtonLink>
        )}
      </PageHead>
      <Card flush>
        <Filters params={params} set={set} />
        {jobs.error && <ErrorNote error={jobs.error} retry={jobs.refetch} />}
        {jobs.isPending && !jobs.error ? (
          <Loading what="jobs" />
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
            empty={isFiltered ? <NoMatches /> : <NoJobs mayDefine={mayDefine} />}
            foot={footText(rows.length, hasMore, sort !== null)}
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

function footText(number: number, hasMore: boolean, isSorted: boolean): string {
  if (!hasMore) return formatCount(number, "job");
  return isSorted ? `Sorted within the newest ${number}; search or filter to find others` : `Newest ${number}`;
}

function Filters({ params, set }: { params: URLSearchParams; set: (changes: Record<string, string | null>) => void }) {
  const kinds = useApiQuery("GET /v1/kinds", {}, { staleTime: 60_000 });
  const queues = useApiQuery("GET /v1/queues", {}, { staleTime: 60_000 });
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
          { value: "all", label: "All types" },
        ]}
        change={(type) => set({ type })}
      />
      <Picker name="Status" value={params.get("status") ?? ""} options={any("Any status", STATES)} change={(status) => set({ status })} />
      <Picker name="Kind" value={params.get("kind") ?? ""} options={any("Any kind", withChosen(kinds.data?.data.map((each) => each.kind), params.get("kind")))} change={(kind) => set({ kind })} />
      <Picker name="Queue" value={params.get("queue") ?? ""} options={any("Any queue", withChosen(queues.data?.data.map((each) => each.name), params.get("queue")))} change={(queue) => set({ queue })} />
      {label && (
        <button type="button" className="label filters-label" onClick={() => set({ label: null })} title="Remove label filter">
          {label} ×
        </button>
      )}
    </div>
  );
}

/** Adds the value in the URL to the options, even if no worker serves it any more. */
function withChosen(values: readonly string[] | undefined, chosen: string | null): string[] {
  return [...new Set([...(values ?? []), ...(chosen ? [chosen] : [])])].sort();
}

function columnsOf(recent: RecentRuns): Column<JobView>[] {
  return [
    { id: "name", head: "Name", sort: true, cell: (job) => <JobName job={job} /> },
    { id: "status", head: "Status", sort: true, cell: (job) => <StatusBadge status={job.status} /> },
    { id: "when", head: "Schedule", show: "wide", cell: (job) => <span className="soft mono">{summarizeSchedule(job)}</span> },
    { id: "next", head: "Next run", sort: true, show: "middle", cell: (job) => <NextRun job={job} /> },
    { id: "last", head: "Last run", sort: true, show: "middle", cell: (job) => <LastRun run={recent.get(job.job_id)?.[0]} /> },
    { id: "recent", head: "Recent runs", show: "middle", cell: (job) => <Sparks name={`Recent runs of ${job.name}`} outcomes={toOutcomes(recent.get(job.job_id) ?? [], ZONE)} /> },
    { id: "kind", head: "Kind", sort: true, show: "wide", cell: (job) => <span className="soft">{job.kind}</span> },
    { id: "actions", head: "", cell: (job) => <JobMenu job={job} /> },
  ];
}

function JobName({ job }: { job: JobView }) {
  const labels = Object.entries(job.labels);
  return (
    <div className="jobs-name">
      <Link href={`/jobs/${job.job_id}`} className="table-main wrap">
        {job.name}
      </Link>
      {labels.slice(0, 3).map(([key, value]) => (
        <Link key={key} className="label" href={linkTo("/jobs", { label: `${key}:${value}` })}>
          {key}:{value}
        </Link>
      ))}
      {labels.length > 3 && <span className="faint">+{labels.length - 3}</span>}
    </div>
  );
}

/** The next run; "now" if it became due after the list was loaded. */
function NextRun({ job }: { job: JobView }) {
  const isPast = useNow() >= Date.parse(job.next_run_at ?? "");
  if (isPast && job.status !== "paused") return <span title={hoverText(job.next_run_at ?? "")}>now</span>;
  return <Time at={job.status === "paused" ? null : job.next_run_at} as="relative" />;
}

function LastRun({ run }: { run: OutcomeView | undefined }) {
  if (!run) return <span className="faint">–</span>;
  return (
    <Link href={`/runs/${run.run_id}`} className="jobs-last" title={reasonOf(run)}>
      <StatusBadge status={run.status} bare />
      <span className="faint">
        <Time at={run.end_time ?? run.start_time ?? run.scheduled_at} as="relative" />
      </span>
    </Link>
  );
}

function NoMatches() {
  return (
    <EmptyState icon="search" title="No matches" action={<ButtonLink href="/jobs">Show all jobs</ButtonLink>}>
      The search looks at job names. Clear a filter to see more jobs.
    </EmptyState>
  );
}

function NoJobs({ mayDefine }: { mayDefine: boolean }) {
  return (
    <EmptyState
      icon="list"
      title="No jobs yet"
      action={
        mayDefine && (
          <ButtonLink href="/jobs/new" look="primary" icon="plus">
            Create job
          </ButtonLink>
        )
      }
    >
      Create a job here, with <code>rota jobs create</code>, or from Python with <code>@app.job</code>. One-time submissions are listed under <Link href={linkTo("/jobs", { type: "one_time" })}>One-time</Link>.
    </EmptyState>
  );
}
