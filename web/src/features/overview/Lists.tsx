// What needs somebody: failures, missed ticks, and runs that take long.
import type { ReactNode } from "react";
import { Link } from "wouter";
import { useAsk } from "../../api/queries.ts";
import type { DeadGroupView, RunView } from "../../api/schema.gen.ts";
import { count } from "../../lib/figures.ts";
import { length } from "../../lib/time.ts";
import { link } from "../../lib/url.ts";
import { Card, Figure, ProgressBar } from "../../ui/Card.tsx";
import { Answered, EmptyState, Note } from "../../ui/Notes.tsx";
import { StateBadge } from "../../ui/State.tsx";
import { Duration, Time } from "../../ui/Time.tsx";
import { longest } from "./model.ts";

const MOST = 6;

/** Dead letters by task and error, the last seen first, each with the message of its newest. */
export function FailingCard({ since }: { since: string }) {
  const groups = useAsk("GET /v1/dead-letters/groups", { query: { since, limit: MOST } }, { every: 10_000, on: ["run.ended"], keep: true });
  return (
    <Card flush title="Recent failures" aside={<Link href="/dead-letters">Dead letters</Link>}>
      <Answered asked={groups} what="what fails">
        {({ data }) => (
          <Lines of={data} empty="No run failed for good in this time." id={(group) => group.sample_run_id}>
            {(group) => <Failing group={group} />}
          </Lines>
        )}
      </Answered>
    </Card>
  );
}

function Failing({ group }: { group: DeadGroupView }) {
  const href = link("/dead-letters", { group: `${group.fingerprint}.${group.kind}` });
  return (
    <>
      <div className="row row-apart">
        <Link href={href} className="table-main cut grow">
          {group.kind}
        </Link>
        <span className="soft" data-figure="overview.failing">{count(group.count, "run")}</span>
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

/** Ticks that no scheduler has decided yet, and those that were missed. */
export function LateCard({ late, by }: { late: number; by: number }) {
  const missed = useAsk("GET /v1/runs", { query: { status: ["missed", "expired"], limit: MOST } }, { every: 15_000, on: ["run.ended"], keep: true });
  return (
    <Card flush title="Late or missed" aside={<Link href={link("/runs", { status: ["missed", "expired"] })}>All</Link>}>
      {late > 0 && (
        <div className="overview-note">
          <Note tone="bad" small>
            <Figure of="overview.late">
              {count(late, "tick")} {late === 1 ? "is" : "are"} late, the latest by {length(by)}.
            </Figure>{" "}
            Look at the schedulers below.
          </Note>
        </div>
      )}
      <Answered asked={missed} what="what was missed">
        {({ data }) => (
          <Lines of={data} empty="Every tick was decided in time." id={(run) => run.run_id}>
            {(run) => <Missed run={run} />}
          </Lines>
        )}
      </Answered>
    </Card>
  );
}

function Missed({ run }: { run: RunView }) {
  return (
    <div className="row row-apart">
      <Link href={`/runs/${run.run_id}`} className="table-main cut grow">
        {run.job_name ?? run.job_id}
      </Link>
      <StateBadge state={run.status} />
      <span className="faint">
        <Time at={run.scheduled_at} as="relative" />
      </span>
    </div>
  );
}

/** What has been running for longest, of the newest 200 that run. */
export function LongestCard() {
  const running = useAsk("GET /v1/runs", { query: { status: ["running", "cancelling"], limit: 200 } }, { every: 10_000, on: ["run.started", "run.ended"], keep: true });
  return (
    <Card flush title="Running longest" aside={<Link href="/runs?status=running">All that run</Link>}>
      <Answered asked={running} what="what runs">
        {({ data }) => (
          <Lines of={longest(data, MOST)} empty="Nothing runs at the moment." id={(run) => run.run_id}>
            {(run) => <Running run={run} />}
          </Lines>
        )}
      </Answered>
    </Card>
  );
}

function Running({ run }: { run: RunView }) {
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

function Lines<T>({ of, empty, id, children }: { of: readonly T[]; empty: string; id: (each: T) => string; children: (each: T) => ReactNode }) {
  if (of.length === 0) return <EmptyState sign="check" title={empty} />;
  return (
    <ul className="overview-lines">
      {of.map((each) => (
        <li key={id(each)}>{children(each)}</li>
      ))}
    </ul>
  );
}
