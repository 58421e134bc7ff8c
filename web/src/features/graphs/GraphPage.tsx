// The page of a graph run: drawn, with the states of its steps as they change; or of a graph job, as it
// is defined.
import { useMemo, useState } from "react";
import { Link, useParams } from "wouter";
import { useAsk, useTell } from "../../api/queries.ts";
import type { RunGraphView, StepView } from "../../api/schema.gen.ts";
import { useMay } from "../../api/session.ts";
import { look } from "../../lib/states.ts";
import { Button, ButtonLink } from "../../ui/Button.tsx";
import { Card, PageHead } from "../../ui/Card.tsx";
import { type Column, DataTable } from "../../ui/DataTable.tsx";
import { ConfirmDialog, FormDialog } from "../../ui/Dialog.tsx";
import { Answered, EmptyState, Note } from "../../ui/Notes.tsx";
import { StateBadge } from "../../ui/State.tsx";
import { Duration, Time } from "../../ui/Time.tsx";
import { toast } from "../../ui/Toast.tsx";
import { Picture } from "./Picture.tsx";
import { hrefOf, stateOf, stepsOf, summary } from "./model.ts";
import "./graphs.css";

export default function GraphPage() {
  const { id = "" } = useParams<{ id: string }>();
  return id.startsWith("job_") ? <Definition key={id} jobId={id} /> : <GraphRun key={id} runId={id} />;
}

function NoGraph() {
  return (
    <EmptyState sign="graph" title="There is no such graph." action={<ButtonLink href="/graphs">All graphs</ButtonLink>}>
      It was deleted, its history is over, or it is no graph.
    </EmptyState>
  );
}

function isMissing(error: Error | null): boolean {
  return error !== null && "status" in error && (error.status === 404 || error.status === 422);
}

function Definition({ jobId }: { jobId: string }) {
  const job = useAsk("GET /v1/jobs/{job_id}", { path: { job_id: jobId } });
  const graph = useAsk("GET /v1/jobs/{job_id}/graph", { path: { job_id: jobId } });
  if (isMissing(graph.error)) return <NoGraph />;
  return (
    <>
      <PageHead title={job.data?.name ?? "Graph"} trail={<Link href="/graphs">Graphs</Link>} about="As it is defined; a run of it shows what became of each step.">
        <ButtonLink href={`/jobs/${jobId}`}>The job</ButtonLink>
      </PageHead>
      <Card flush>
        <Answered asked={graph} what="the graph">
          {(found) => <Picture steps={stepsOf(found.graph)} graphRun={null} />}
        </Answered>
      </Card>
    </>
  );
}

function GraphRun({ runId }: { runId: string }) {
  const graph = useAsk("GET /v1/runs/{run_id}/graph", { path: { run_id: runId } }, { on: ["run.started", "run.ended", "run.attempted"], where: (event) => event.graph_run_id === runId || event.run_id === runId, every: 3_000, keep: true });
  const run = useAsk("GET /v1/runs/{run_id}", { path: { run_id: runId } }, { every: 5_000, keep: true });
  const columns = useMemo(() => columnsOf(runId), [runId]);
  if (isMissing(graph.error)) return <NoGraph />;
  return (
    <Answered asked={graph} what="the graph run">
      {(found) => (
        <>
          <PageHead
            title={run.data?.job_name ?? "Graph run"}
            trail={
              <>
                <Link href="/graphs">Graphs</Link>
                {run.data?.graph_run_id && (
                  <>
                    {" / "}
                    <Link href={`/graphs/${run.data.graph_run_id}`}>the graph around it</Link>
                  </>
                )}
              </>
            }
            about={
              <span className="row">
                <StateBadge state={found.paused_at ? "paused" : found.status} />
                <span>{summary(found)}</span>
                <span className="soft">
                  <Duration start={found.start_time} end={found.end_time} />
                </span>
              </span>
            }
          >
            <Actions graph={found} />
            <ButtonLink href={`/runs/${runId}`}>The run</ButtonLink>
          </PageHead>
          {found.paused_at && (
            <Note tone="warn" sign="pause">
              Paused since <Time at={found.paused_at} />: steps that run go on, no other begins.
            </Note>
          )}
          <Card flush>
            <Picture steps={found.steps} graphRun={runId} />
          </Card>
          {found.critical_path.length > 1 && (
            <p className="soft wrap">
              What took longest, one after the other: <strong>{found.critical_path.join(" → ")}</strong>
            </p>
          )}
          <Card flush title="Steps">
            <DataTable name="Steps" rows={found.steps} columns={columns} rowKey={(step) => step.name} empty={null} keys />
          </Card>
        </>
      )}
    </Answered>
  );
}

function columnsOf(runId: string): Column<StepView>[] {
  return [
    { id: "name", head: "Step", cell: (step) => <Named step={step} runId={runId} /> },
    { id: "state", head: "State", cell: (step) => <StateBadge state={stateOf(step)} /> },
    { id: "took", head: "Took", num: true, cell: (step) => <Duration start={step.start_time} end={step.end_time} /> },
    { id: "needs", head: "After", show: "wide", cell: (step) => <span className="soft wrap">{step.needs.join(", ") || "–"}</span> },
    { id: "kind", head: "Kind", show: "middle", cell: (step) => <span className="soft">{step.kind}</span> },
    { id: "why", head: "Why", show: "middle", cell: (step) => <span className="soft wrap">{step.map?.progress ?? step.reason?.replaceAll("_", " ") ?? "–"}</span> },
  ];
}

function Named({ step, runId }: { step: StepView; runId: string }) {
  const href = hrefOf(step, runId);
  if (href === null) return <span className="table-main">{step.name}</span>;
  return (
    <Link href={href} className="table-main">
      {step.name}
    </Link>
  );
}

type Action = "retry" | "pause" | "cancel";
const OVER = new Set(["dead", "cancelled", "expired", "lost", "quarantined"]);
const SPOILS = ["GET /v1/runs/{run_id}/graph", "GET /v1/runs/{run_id}", "GET /v1/runs"] as const;

function Actions({ graph }: { graph: RunGraphView }) {
  const [action, setAction] = useState<Action | null>(null);
  const close = () => setAction(null);
  const isOver = graph.end_time !== null || look(graph.status).tone === "good";
  const path = { run_id: graph.run_id };
  const mayRetry = useMay("POST /v1/runs/{run_id}/retryFailed");
  const mayPause = useMay("POST /v1/runs/{run_id}/pause");
  const mayCancel = useMay("POST /v1/runs/{run_id}/cancel");
  const said = (text: string) => () => {
    toast(text);
    close();
  };
  const retry = useTell("POST /v1/runs/{run_id}/retryFailed", { spoils: SPOILS, done: said("It goes again from the steps that failed.") });
  const pause = useTell("POST /v1/runs/{run_id}/pause", { spoils: SPOILS, done: said("No more steps begin.") });
  const resume = useTell("POST /v1/runs/{run_id}/resume", { spoils: SPOILS, done: said("It goes on.") });
  const cancel = useTell("POST /v1/runs/{run_id}/cancel", { spoils: SPOILS, done: said("It is cancelled, with all its steps.") });
  return (
    <>
      {mayRetry && OVER.has(graph.status) && (
        <Button look="primary" sign="redo" onClick={() => setAction("retry")}>
          Retry from the failed steps
        </Button>
      )}
      {mayPause && !isOver && graph.paused_at === null && (
        <Button sign="pause" onClick={() => setAction("pause")}>
          Pause
        </Button>
      )}
      {mayPause && !isOver && graph.paused_at !== null && (
        <Button look="primary" sign="play" disabled={resume.isPending} onClick={() => resume.mutate({ path })}>
          Resume
        </Button>
      )}
      {mayCancel && !isOver && (
        <Button look="danger" sign="stop" onClick={() => setAction("cancel")}>
          Cancel…
        </Button>
      )}
      {action === "retry" && (
        <FormDialog title="Retry from the failed steps?" action="Retry" close={close} act={() => retry.mutate({ path })} busy={retry.isPending} error={retry.error}>
          <p>Steps that succeeded keep their results. Those that failed go again, and what was skipped because of them is decided anew.</p>
        </FormDialog>
      )}
      {action === "pause" && (
        <FormDialog title="Pause this graph run?" action="Pause" close={close} act={() => pause.mutate({ path })} busy={pause.isPending} error={pause.error}>
          <p>Steps that run go on to their end; no other begins until it is resumed.</p>
        </FormDialog>
      )}
      {action === "cancel" && (
        <ConfirmDialog title="Cancel this graph run?" action="Cancel it all" close={close} act={() => cancel.mutate({ path, body: {} })} busy={cancel.isPending} error={cancel.error}>
          <p>What runs is asked to stop, what waits ends at once, and nothing follows.</p>
        </ConfirmDialog>
      )}
    </>
  );
}
