// The overview of a job: the strip of its ticks, its next times, how long its runs take.
import { useMemo } from "react";
import { Link, useLocation } from "wouter";
import { useAsk } from "../../api/queries.ts";
import type { JobView, RunView } from "../../api/schema.gen.ts";
import { look } from "../../lib/states.ts";
import { length, stamp } from "../../lib/time.ts";
import { link, taskPath } from "../../lib/url.ts";
import { Card, Facts, Figure } from "../../ui/Card.tsx";
import { Chart, type Layer } from "../../ui/Chart.tsx";
import { JsonView } from "../../ui/Json.tsx";
import { Answered, EmptyState } from "../../ui/Notes.tsx";
import { TickStrip } from "../../ui/Strip.tsx";
import { Time, ZONE } from "../../ui/Time.tsx";
import { durations, outcomes, reasonOf, tally } from "./model.ts";
import { NextTimes } from "./Preview.tsx";

const SHOWN = 100;

export function Standing({ job }: { job: JobView }) {
  const runs = useAsk(
    "GET /v1/jobs/{job_id}/runs",
    { path: { job_id: job.job_id }, query: { limit: SHOWN } },
    { on: ["run.made", "run.started", "run.ended"], where: ({ job_id }) => job_id === job.job_id, every: 30_000, keep: true },
  );
  const ticks = useAsk(
    "GET /v1/jobs/{job_id}/runs",
    { path: { job_id: job.job_id }, query: { trigger: "tick", limit: SHOWN } },
    { on: ["run.made", "run.started", "run.ended"], where: ({ job_id }) => job_id === job.job_id, every: 30_000, keep: true },
  );
  return (
    <>
      <Card title="Ticks" aside={<Link href={link(`/jobs/${job.job_id}`, { tab: "runs" })}>All runs</Link>}>
        <Answered asked={ticks} what="its ticks">
          {({ data }) => <Ticks runs={data} />}
        </Answered>
      </Card>
      <div className="grid-2">
        <Card title="How long it takes">
          <Answered asked={runs} what="its runs">
            {({ data }) => <Durations runs={data} />}
          </Answered>
        </Card>
        <Card title="Next times">
          <NextTimes job={job} />
        </Card>
      </div>
      <div className="grid-2">
        <Card title="About">
          <Facts
            of={[
              ["Task", job.graph ? job.kind : <Link key="task" href={taskPath(job.kind)}>{job.kind}</Link>],
              ["Queue", <Link key="queue" href={link("/queues", {})}>{job.queue}</Link>],
              ["Next run", <Figure key="next" of="job.next_run"><Time at={job.next_run_at} /></Figure>],
              ["Labels", Object.keys(job.labels).length === 0 ? "none" : <Labels key="labels" of={job.labels} />],
              job.user_id !== null && ["User", job.user_id],
              ["Made", <Time key="made" at={job.created_at} />],
              ["Changed", <Time key="changed" at={job.updated_at} />],
              ["Version", <Figure key="version" of="job.version">{job.version}</Figure>],
            ]}
          />
        </Card>
        <Card title="Payload">
          <JsonView value={job.payload} name="the payload" />
        </Card>
      </div>
    </>
  );
}

export function Labels({ of }: { of: Record<string, string> }) {
  return (
    <span className="row">
      {Object.entries(of).map(([key, value]) => (
        <Link key={key} className="label" href={link("/jobs", { label: `${key}:${value}` })}>
          {key}:{value}
        </Link>
      ))}
    </span>
  );
}

function Ticks({ runs }: { runs: readonly RunView[] }) {
  const shown = useMemo(() => outcomes(runs, ZONE), [runs]);
  if (runs.length === 0) return <EmptyState sign="clock" title="No tick of it has come yet." />;
  const unrun = runs.filter((run) => run.start_time === null && run.end_time !== null).slice(0, 3);
  return (
    <div className="stack">
      <TickStrip name="Ticks, the oldest first" outcomes={shown} />
      <p className="soft" data-figure="job.ticks">
        {tally(runs)}
      </p>
      {unrun.length > 0 && (
        <ul className="stack stack-tight">
          {unrun.map((run) => (
            <li key={run.run_id} className="soft wrap">
              <Time at={run.scheduled_at} /> {look(run.status).word}
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
  const shown = useMemo(() => durations(runs), [runs]);
  const layers = useMemo<Layer[]>(
    () => [{ kind: "dots", label: "a run", tone: "good", values: shown.seconds, tones: shown.states.map((state) => look(state).tone) }],
    [shown],
  );
  if (shown.at.length === 0) return <EmptyState sign="clock" title="No run has ended yet." />;
  return (
    <Chart
      figure="job.durations"
      name="How long each run took, by when it started"
      at={shown.at}
      layers={layers}
      format={(value) => (value === 0 ? "0" : length(value))}
      said={(index) => `${stamp(shown.at[index] ?? 0, ZONE)}: ${look(shown.states[index] ?? "").word} after ${length(shown.seconds[index] ?? 0)}`}
      height={260}
      pick={(index) => navigate(`/runs/${shown.ids[index] ?? ""}`)}
    />
  );
}
