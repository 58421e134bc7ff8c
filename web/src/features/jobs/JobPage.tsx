// The page of a job: how it stands, its ticks, its next times, how long it takes, who changed it.
import { useState } from "react";
import { Link, useLocation, useParams, useSearchParams } from "wouter";
import { useAsk } from "../../api/queries.ts";
import type { JobView } from "../../api/schema.gen.ts";
import { link, oneOf } from "../../lib/url.ts";
import { Button, ButtonLink } from "../../ui/Button.tsx";
import { PageHead, Tabs } from "../../ui/Card.tsx";
import { CopyButton } from "../../ui/Copy.tsx";
import { Menu } from "../../ui/Menu.tsx";
import { Answered, EmptyState } from "../../ui/Notes.tsx";
import { StateBadge } from "../../ui/State.tsx";
import { Told } from "../../ui/Time.tsx";
import { type Action, ActionDialog, itemsFor } from "./Actions.tsx";
import { History } from "./History.tsx";
import { JobRuns } from "./JobRuns.tsx";
import { Settings } from "./Settings.tsx";
import { Standing } from "./Standing.tsx";
import { Submission } from "./Submission.tsx";
import { isOneTime } from "./model.ts";
import "./jobs.css";

const TABS = ["overview", "runs", "settings", "history"] as const;

export default function JobPage() {
  const { id = "" } = useParams<{ id: string }>();
  const job = useAsk("GET /v1/jobs/{job_id}", { path: { job_id: id } }, { on: ["job.changed"], where: ({ job_id }) => job_id === id, every: 30_000 });
  if (job.error && "status" in job.error && job.error.status === 404) {
    return (
      <EmptyState sign="search" title="There is no such job." action={<ButtonLink href="/jobs">All jobs</ButtonLink>}>
        It was deleted, or belongs to another tenant. Its runs are still in <Link href={link("/runs", { job_id: id })}>the list of runs</Link>.
      </EmptyState>
    );
  }
  return (
    <Answered asked={job} what="the job">
      {(found) => <Loaded job={found} />}
    </Answered>
  );
}

function Loaded({ job }: { job: JobView }) {
  const [params] = useSearchParams();
  const tab = oneOf(params.get("tab"), TABS);
  const [action, setAction] = useState<Action | null>(null);
  const [, navigate] = useLocation();
  const status = useAsk("GET /v1/jobs/{job_id}/status", { path: { job_id: job.job_id } }, { on: ["run.started", "run.ended", "job.changed"], where: ({ job_id }) => job_id === job.job_id, every: 15_000, keep: true });
  const items = itemsFor(job, setAction, navigate);
  const first = items.filter((item) => item.label === "Run now" || item.label === "Pause" || item.label === "Resume");
  const rest = items.filter((item) => !first.includes(item));
  // What is most likely wanted: a job that is held is to go on.
  const main = first.some((item) => item.label === "Resume") ? "Resume" : "Run now";
  const at = (each: string) => link(`/jobs/${job.job_id}`, { tab: each === "overview" ? null : each });
  return (
    <>
      <PageHead
        title={job.name}
        trail={isOneTime(job) ? <Link href={link("/jobs", { type: "one_time" })}>One-time</Link> : <Link href="/jobs">Jobs</Link>}
        about={
          <span className="row">
            <StateBadge state={job.status} />
            {status.data && <span className="wrap"><Told text={status.data.explanation} /></span>}
          </span>
        }
      >
        {job.graph && (
          <ButtonLink sign="graph" href={`/graphs/${job.job_id}`}>
            Graph
          </ButtonLink>
        )}
        {first.map((item) => (
          <Button key={String(item.label)} look={item.label === main ? "primary" : "plain"} sign={item.sign ?? "play"} disabled={item.disabled} onClick={item.act}>
            {item.label}
          </Button>
        ))}
        {rest.length > 0 && <Menu name="More actions" label="More" items={rest} />}
      </PageHead>
      <Tabs
        name="About this job"
        at={tab}
        tabs={[
          { id: "overview", label: "Overview", href: at("overview") },
          { id: "runs", label: "Runs", href: at("runs") },
          { id: "settings", label: "Settings", href: at("settings") },
          { id: "history", label: "History", href: at("history") },
        ]}
      />
      {tab === "overview" && (isOneTime(job) ? <Submission job={job} /> : <Standing job={job} />)}
      {tab === "runs" && <JobRuns job={job} />}
      {tab === "settings" && <Settings job={job} />}
      {tab === "history" && <History job={job} />}
      <div className="row faint mono">
        {job.job_id} <CopyButton text={job.job_id} name="Copy the id" />
      </div>
      <ActionDialog job={job} action={action} close={() => setAction(null)} />
    </>
  );
}
