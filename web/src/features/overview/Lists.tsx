// Lists that need attention: recent failures, late and missed runs, longest-running runs.
import type { ReactNode } from "react";
import { Link } from "wouter";
import { useApiQuery } from "../../api/queries.ts";
import type { DeadGroupView, RunView } from "../../api/schema.gen.ts";
import { formatCount } from "../../lib/figures.ts";
import { formatDuration } from "../../lib/time.ts";
import { linkTo } from "../../lib/url.ts";
import { Card, Figure, ProgressBar } from "../../ui/Card.tsx";
import { QueryView, EmptyState, Note } from "../../ui/Notes.tsx";
import { StatusBadge } from "../../ui/StatusBadge.tsx";
import { Duration, Time } from "../../ui/Time.tsx";
import { longestRunning } from "./model.ts";

const LIST_LIMIT = 6;

/** Dead letters by task and error, the last seen first, each with its newest message. */
export function FailuresCard({ since }: { since: string }) {
  const groups = useApiQuery("GET /v1/dead-letters/groups", { query: { since, limit: LIST_LIMIT } }, { every: 10_000, on: ["run.ended"], keepPrevious: true });
  return (
    <Card flush title="Recent failures" aside={<Link href="/dead-letters">Dead letters</Link>}>
      <QueryView query={groups} what="failures">
        {({ data }) => (
          <Lines of={data} empty="No failures in this period" id={(group) => group.sample_run_id}>
            {(group) => <FailureLine group={group} />}
          </Lines>
        )}
      </QueryView>
    </Card>
  );
}

function FailureLine({ group }: { group: DeadGroupView }) {
  const href = linkTo("/dead-letters", { group: `${group.fingerprint}.${group.kind}` });
  return (
    <>
      <div className="row row-apart">
        <Link href={href} className="table-main cut grow">
          {group.kind}
        </Link>
        <span className="soft" data-figure="overview.failing">{formatCount(group.count, "run")}</span>
      </div>
      <div className="row row-apart">
        <Link href={href} className="bad-text cut grow" title={group.frame ? `${group.message} (${group.frame})` : group.message}>
          {group.error_type}: {group.message}
        </Link>
        <span className="faint">
          <Time at={group.last_seen} as="relative" />
        </span>
      </div>
    </>
  );
}

/** Overdue ticks, and missed and expired runs. */
export function LateCard({ late, by }: { late: number; by: number }) {
  const missed = useApiQuery("GET /v1/runs", { query: { status: ["missed", "expired"], limit: LIST_LIMIT } }, { every: 15_000, on: ["run.ended"], keepPrevious: true });
  return (
    <Card flush title="Late and missed runs" aside={<Link href={linkTo("/runs", { status: ["missed", "expired"] })}>Show all</Link>}>
      {late > 0 && (
        <div className="overview-note">
          <Note tone="bad" small>
            <Figure of="overview.late">
              {formatCount(late, "tick")} {late === 1 ? "is" : "are"} late, by up to {formatDuration(by)}.
            </Figure>{" "}
            Check the schedulers below.
          </Note>
        </div>
      )}
      <QueryView query={missed} what="missed runs">
        {({ data }) => (
          <Lines of={data} empty="No late or missed runs" id={(run) => run.run_id}>
            {(run) => <MissedLine run={run} />}
          </Lines>
        )}
      </QueryView>
    </Card>
  );
}

function MissedLine({ run }: { run: RunView }) {
  return (
    <div className="row row-apart">
      <Link href={`/runs/${run.run_id}`} className="table-main cut grow">
        {run.job_name ?? run.job_id}
      </Link>
      <StatusBadge status={run.status} />
      <span className="faint">
        <Time at={run.scheduled_at} as="relative" />
      </span>
    </div>
  );
}

/** The longest-running of the newest 200 active runs. */
export function LongestCard() {
  const running = useApiQuery("GET /v1/runs", { query: { status: ["running", "cancelling"], limit: 200 } }, { every: 10_000, on: ["run.started", "run.ended"], keepPrevious: true });
  return (
    <Card flush title="Longest-running runs" aside={<Link href="/runs?status=running">Show all</Link>}>
      <QueryView query={running} what="active runs">
        {({ data }) => (
          <Lines of={longestRunning(data, LIST_LIMIT)} empty="No active runs" id={(run) => run.run_id}>
            {(run) => <RunningLine run={run} />}
          </Lines>
        )}
      </QueryView>
    </Card>
  );
}

function RunningLine({ run }: { run: RunView }) {
  return (
    <>
      <div className="row row-apart">
        <Link href={`/runs/${run.run_id}`} className="table-main cut grow">
          {run.job_name ?? run.job_id}
        </Link>
        <span className="soft" data-figure="overview.running">
          <Duration start={run.start_time} end={null} />
        </span>
      </div>
      {run.progress !== null && <ProgressBar share={run.progress} name={`Progress of ${run.job_name ?? run.run_id}`} />}
    </>
  );
}

function Lines<T>({ of, empty, id, children }: { of: readonly T[]; empty: string; id: (item: T) => string; children: (item: T) => ReactNode }) {
  if (of.length === 0) return <EmptyState icon="check" title={empty} />;
  return (
    <ul className="overview-lines">
      {of.map((item) => (
        <li key={id(item)}>{children(item)}</li>
      ))}
    </ul>
  );
}
