// The overview tab of a job: recent ticks, durations, next runs, details and payload.
import { useMemo } from "react";
import { Link, useLocation } from "wouter";
import { useApiQuery } from "../../api/queries.ts";
import type { JobView, RunView } from "../../api/schema.gen.ts";
import { statusLook } from "../../lib/states.ts";
import { formatDuration, formatTime } from "../../lib/time.ts";
import { linkTo, taskPath } from "../../lib/url.ts";
import { Card, Facts, Figure } from "../../ui/Card.tsx";
import { Chart, type Layer } from "../../ui/Chart.tsx";
import { JsonView } from "../../ui/JsonView.tsx";
import { QueryView, EmptyState } from "../../ui/Notes.tsx";
import { TickStrip } from "../../ui/OutcomeStrip.tsx";
import { Time, ZONE } from "../../ui/Time.tsx";
import { Expectations } from "./Expectations.tsx";
import { runDurations, toOutcomes, reasonOf, summarizeTicks } from "./model.ts";
import { NextTimes } from "./Preview.tsx";

const SHOWN = 100;

export function JobOverview({ job }: { job: JobView }) {
  const runs = useApiQuery(
    "GET /v1/jobs/{job_id}/runs",
    { path: { job_id: job.job_id }, query: { limit: SHOWN } },
    { on: ["run.made", "run.started", "run.ended"], where: ({ job_id }) => job_id === job.job_id, every: 30_000, keepPrevious: true },
  );
  const ticks = useApiQuery(
    "GET /v1/jobs/{job_id}/runs",
    { path: { job_id: job.job_id }, query: { trigger: "tick", limit: SHOWN } },
    { on: ["run.made", "run.started", "run.ended"], where: ({ job_id }) => job_id === job.job_id, every: 30_000, keepPrevious: true },
  );
  return (
    <>
      <Expectations jobId={job.job_id} />
      <Card title="Recent ticks" aside={<Link href={linkTo(`/jobs/${job.job_id}`, { tab: "runs" })}>Show all runs</Link>}>
        <QueryView query={ticks} what="ticks">
          {({ data }) => <Ticks runs={data} />}
        </QueryView>
      </Card>
      <div className="grid-2">
        <Card title="Duration">
          <QueryView query={runs} what="runs">
            {({ data }) => <Durations runs={data} />}
          </QueryView>
        </Card>
        <Card title="Next runs">
          <NextTimes job={job} />
        </Card>
      </div>
      <div className="grid-2">
        <Card title="Details">
          <Facts
            of={[
              ["Task", job.graph ? job.kind : <Link key="task" href={taskPath(job.kind)}>{job.kind}</Link>],
              ["Queue", <Link key="queue" href={linkTo("/queues", {})}>{job.queue}</Link>],
              ["Next run", <Figure key="next" of="job.next_run"><Time at={job.next_run_at} /></Figure>],
              ["Labels", Object.keys(job.labels).length === 0 ? "none" : <Labels key="labels" of={job.labels} />],
              job.user_id !== null && ["User id", job.user_id],
              ["Created", <Time key="created" at={job.created_at} as="relative" />],
              ["Updated", <Time key="updated" at={job.updated_at} as="relative" />],
              ["Version", <Figure key="version" of="job.version">{job.version}</Figure>],
            ]}
          />
        </Card>
        <Card title="Payload">
          <JsonView value={job.payload} name="payload" />
        </Card>
      </div>
    </>
  );
}

export function Labels({ of }: { of: Record<string, string> }) {
  return (
    <span className="row">
      {Object.entries(of).map(([key, value]) => (
        <Link key={key} className="label" href={linkTo("/jobs", { label: `${key}:${value}` })}>
          {key}:{value}
        </Link>
      ))}
    </span>
  );
}

function Ticks({ runs }: { runs: readonly RunView[] }) {
  const shown = useMemo(() => toOutcomes(runs, ZONE), [runs]);
  if (runs.length === 0) return <EmptyState icon="clock" title="No ticks yet" />;
  const unrun = runs.filter((run) => run.start_time === null && run.end_time !== null).slice(0, 3);
  return (
    <div className="stack">
      <TickStrip name="Ticks, oldest first" outcomes={shown} />
      <p className="soft" data-figure="job.ticks">
        {summarizeTicks(runs)}
      </p>
      {unrun.length > 0 && (
        <ul className="stack stack-tight">
          {unrun.map((run) => (
            <li key={run.run_id} className="soft wrap">
              <Time at={run.scheduled_at} /> {statusLook(run.status).word}
              {reasonOf(run) && `: ${reasonOf(run)}`}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

function Durations({ runs }: { runs: readonly RunView[] }) {
  const [, navigate] = useLocation();
  const shown = useMemo(() => runDurations(runs), [runs]);
  const layers = useMemo<Layer[]>(
    () => [{ kind: "dots", label: "run", tone: "good", values: shown.seconds, tones: shown.states.map((state) => statusLook(state).tone) }],
    [shown],
  );
  if (shown.at.length === 0) return <EmptyState icon="clock" title="No finished runs yet" />;
  return (
    <Chart
      figure="job.durations"
      name="Run duration by start time"
      at={shown.at}
      layers={layers}
      format={(value) => (value === 0 ? "0" : formatDuration(value))}
      describe={(index) => `${formatTime(shown.at[index] ?? 0, ZONE)}: ${statusLook(shown.states[index] ?? "").word} after ${formatDuration(shown.seconds[index] ?? 0)}`}
      height={260}
      onPick={(index) => navigate(`/runs/${shown.ids[index] ?? ""}`)}
    />
  );
}
