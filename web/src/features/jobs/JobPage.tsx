// The page of a job: status, recent ticks, next runs, durations, settings and history.
import { useState } from "react";
import { Link, useLocation, useParams, useSearchParams } from "wouter";
import { useApiQuery } from "../../api/queries.ts";
import type { JobView } from "../../api/schema.gen.ts";
import { linkTo, oneOf } from "../../lib/url.ts";
import { Button, ButtonLink } from "../../ui/Button.tsx";
import { PageHead, Tabs } from "../../ui/Card.tsx";
import { CopyButton } from "../../ui/CopyButton.tsx";
import { Menu } from "../../ui/Menu.tsx";
import { QueryView, EmptyState } from "../../ui/Notes.tsx";
import { StatusBadge } from "../../ui/StatusBadge.tsx";
import { TextWithTimes } from "../../ui/Time.tsx";
import { type Action, ActionDialog, itemsFor } from "./Actions.tsx";
import { History } from "./History.tsx";
import { JobRuns } from "./JobRuns.tsx";
import { Settings } from "./Settings.tsx";
import { JobOverview } from "./JobOverview.tsx";
import { OneTimeOverview } from "./OneTimeOverview.tsx";
import { isOneTime } from "./model.ts";
import "./jobs.css";

const TABS = ["overview", "runs", "settings", "history"] as const;

export default function JobPage() {
  const { id = "" } = useParams<{ id: string }>();
  const job = useApiQuery("GET /v1/jobs/{job_id}", { path: { job_id: id } }, { on: ["job.changed"], where: ({ job_id }) => job_id === id, every: 30_000 });
  if (job.error && "status" in job.error && job.error.status === 404) {
    return (
      <EmptyState icon="search" title="Job not found" action={<ButtonLink href="/jobs">Show all jobs</ButtonLink>}>
        It was deleted or belongs to another tenant. Its past runs are still in the <Link href={linkTo("/runs", { job_id: id })}>run list</Link>.
      </EmptyState>
    );
  }
  return (
    <QueryView query={job} what="job">
      {(found) => <Loaded job={found} />}
    </QueryView>
  );
}

function Loaded({ job }: { job: JobView }) {
  const [params] = useSearchParams();
  const tab = oneOf(params.get("tab"), TABS);
  const [action, setAction] = useState<Action | null>(null);
  const [, navigate] = useLocation();
  const status = useApiQuery("GET /v1/jobs/{job_id}/status", { path: { job_id: job.job_id } }, { on: ["run.started", "run.ended", "job.changed"], where: ({ job_id }) => job_id === job.job_id, every: 15_000, keepPrevious: true });
  const items = itemsFor(job, setAction, navigate);
  const first = items.filter((item) => item.label === "Run now" || item.label === "Pause" || item.label === "Resume");
  const rest = items.filter((item) => !first.includes(item));
  // The most likely action comes first: resume a paused job, run any other job.
  const main = first.some((item) => item.label === "Resume") ? "Resume" : "Run now";
  const at = (name: string) => linkTo(`/jobs/${job.job_id}`, { tab: name === "overview" ? null : name });
  return (
    <>
      <PageHead
        title={job.name}
        trail={isOneTime(job) ? <Link href={linkTo("/jobs", { type: "one_time" })}>One-time</Link> : <Link href="/jobs">Jobs</Link>}
        about={
          <span className="row">
            <StatusBadge status={job.status} />
            {status.data && <span className="wrap"><TextWithTimes text={[status.data.explanation, status.data.prediction].filter(Boolean).join(" ")} /></span>}
          </span>
        }
      >
        {job.graph && (
          <ButtonLink icon="graph" href={`/graphs/${job.job_id}`}>
            Graph
          </ButtonLink>
        )}
        {first.map((item) => (
          <Button key={String(item.label)} look={item.label === main ? "primary" : "plain"} icon={item.icon ?? "play"} disabled={item.disabled} onClick={item.act}>
            {item.label}
          </Button>
        ))}
        {rest.length > 0 && <Menu name="More actions" label="More" items={rest} />}
      </PageHead>
      <Tabs
        name="Job sections"
        at={tab}
        tabs={[
          { id: "overview", label: "Overview", href: at("overview") },
          { id: "runs", label: "Runs", href: at("runs") },
          { id: "settings", label: "Settings", href: at("settings") },
          { id: "history", label: "History", href: at("history") },
        ]}
      />
      {tab === "overview" && (isOneTime(job) ? <OneTimeOverview job={job} /> : <JobOverview job={job} />)}
      {tab === "runs" && <JobRuns job={job} />}
      {tab === "settings" && <Settings job={job} />}
      {tab === "history" && <History job={job} />}
      <div className="row faint mono">
        {job.job_id} <CopyButton text={job.job_id} name="Copy id" />
      </div>
      <ActionDialog job={job} action={action} close={() => setAction(null)} />
    </>
  );
}
