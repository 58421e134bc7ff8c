// The page of a graph run, with the live status of its steps; or of a graph job, with its definition.
import { useMemo, useState } from "react";
import { Link, useParams } from "wouter";
import { useApiQuery, useApiMutation } from "../../api/queries.ts";
import type { RunGraphView, StepView } from "../../api/schema.gen.ts";
import { useMay } from "../../api/session.ts";
import { statusLook } from "../../lib/states.ts";
import { Button, ButtonLink } from "../../ui/Button.tsx";
import { Card, PageHead } from "../../ui/Card.tsx";
import { type Column, DataTable } from "../../ui/DataTable.tsx";
import { ConfirmDialog, FormDialog } from "../../ui/Dialog.tsx";
import { QueryView, EmptyState, Note } from "../../ui/Notes.tsx";
import { StatusBadge } from "../../ui/StatusBadge.tsx";
import { Duration, Time } from "../../ui/Time.tsx";
import { toast } from "../../ui/Toast.tsx";
import { GraphDiagram } from "./GraphDiagram.tsx";
import { hrefOf, stateOf, stepsOf, summarizeSteps } from "./model.ts";
import "./graphs.css";

export default function GraphPage() {
  const { id = "" } = useParams<{ id: string }>();
  return id.startsWith("job_") ? <Definition key={id} jobId={id} /> : <GraphRun key={id} runId={id} />;
}

function GraphNotFound() {
  return (
    <EmptyState icon="graph" title="Graph not found" action={<ButtonLink href="/graphs">Show all graphs</ButtonLink>}>
      It was deleted, is older than the retention period, or is not a graph.
    </EmptyState>
  );
}

function isMissing(error: Error | null): boolean {
  return error !== null && "status" in error && (error.status === 404 || error.status === 422);
}

function Definition({ jobId }: { jobId: string }) {
  const job = useApiQuery("GET /v1/jobs/{job_id}", { path: { job_id: jobId } });
  const graph = useApiQuery("GET /v1/jobs/{job_id}/graph", { path: { job_id: jobId } });
  if (isMissing(graph.error)) return <GraphNotFound />;
  return (
    <>
      <PageHead title={job.data?.name ?? "Graph"} trail={<Link href="/graphs">Graphs</Link>} about="Definition. Open a graph run to see the status of its steps.">
        <ButtonLink href={`/jobs/${jobId}`}>Open job</ButtonLink>
      </PageHead>
      <Card flush>
        <QueryView query={graph} what="graph">
          {(found) => <GraphDiagram steps={stepsOf(found.graph)} graphRun={null} />}
        </QueryView>
      </Card>
    </>
  );
}

function GraphRun({ runId }: { runId: string }) {
  const graph = useApiQuery("GET /v1/runs/{run_id}/graph", { path: { run_id: runId } }, { on: ["run.started", "run.ended", "run.attempted"], where: (event) => event.graph_run_id === runId || event.run_id === runId, every: 3_000, keepPrevious: true });
  const run = useApiQuery("GET /v1/runs/{run_id}", { path: { run_id: runId } }, { every: 5_000, keepPrevious: true });
  const columns = useMemo(() => columnsOf(runId), [runId]);
  if (isMissing(graph.error)) return <GraphNotFound />;
  return (
    <QueryView query={graph} what="graph run">
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
                    <Link href={`/graphs/${run.data.graph_run_id}`}>Parent graph run</Link>
                  </>
                )}
              </>
            }
            about={
              <span className="row">
                <StatusBadge status={found.paused_at ? "paused" : found.status} />
                <span>{summarizeSteps(found)}</span>
                <span className="soft">
                  <Duration start={found.start_time} end={found.end_time} />
                </span>
              </span>
            }
          >
            <Actions graph={found} />
            <ButtonLink href={`/runs/${runId}`}>Open run</ButtonLink>
          </PageHead>
          {found.paused_at && (
            <Note tone="warn" icon="pause">
              Paused since <Time at={found.paused_at} />. Active steps continue; no new step starts.
            </Note>
          )}
          <Card flush>
            <GraphDiagram steps={found.steps} graphRun={runId} />
          </Card>
          {found.critical_path.length > 1 && (
            <p className="soft wrap">
              Critical path: <strong>{found.critical_path.join(" → ")}</strong>
            </p>
          )}
          <Card flush title="Steps">
            <DataTable name="Steps" rows={found.steps} columns={columns} rowKey={(step) => step.name} empty={null} keys />
          </Card>
        </>
      )}
    </QueryView>
  );
}

function columnsOf(runId: string): Column<StepView>[] {
  return [
    { id: "name", head: "Step", cell: (step) => <StepName step={step} runId={runId} /> },
    { id: "state", head: "Status", cell: (step) => <StatusBadge status={stateOf(step)} /> },
    { id: "took", head: "Duration", num: true, cell: (step) => <Duration start={step.start_time} end={step.end_time} /> },
    { id: "needs", head: "After", show: "wide", cell: (step) => <span className="soft wrap">{step.needs.join(", ") || "–"}</span> },
    { id: "kind", head: "Kind", show: "middle", cell: (step) => <span className="soft">{step.kind}</span> },
    { id: "why", head: "Reason", show: "middle", cell: (step) => <span className="soft wrap">{step.map?.progress ?? step.reason?.replaceAll("_", " ") ?? "–"}</span> },
  ];
}

function StepName({ step, runId }: { step: StepView; runId: string }) {
  const href = hrefOf(step, runId);
  if (href === null) return <span className="table-main">{step.name}</span>;
  return (
    <Link href={href} className="table-main">
      {step.name}
    </Link>
  );
}

type Action = "retry" | "pause" | "cancel";
const RETRYABLE_STATUSES = new Set(["dead", "cancelled", "expired", "lost", "quarantined"]);
const SPOILS = ["GET /v1/runs/{run_id}/graph", "GET /v1/runs/{run_id}", "GET /v1/runs"] as const;

function Actions({ graph }: { graph: RunGraphView }) {
  const [action, setAction] = useState<Action | null>(null);
  const close = () => setAction(null);
  const isOver = graph.end_time !== null || statusLook(graph.status).tone === "good";
  const path = { run_id: graph.run_id };
  const mayRetry = useMay("POST /v1/runs/{run_id}/retryFailed");
  const mayPause = useMay("POST /v1/runs/{run_id}/pause");
  const mayCancel = useMay("POST /v1/runs/{run_id}/cancel");
  const notify = (text: string) => () => {
    toast(text);
    close();
  };
  const retry = useApiMutation("POST /v1/runs/{run_id}/retryFailed", { invalidates: SPOILS, done: notify("Retrying failed steps") });
  const pause = useApiMutation("POST /v1/runs/{run_id}/pause", { invalidates: SPOILS, done: notify("Paused the graph run") });
  const resume = useApiMutation("POST /v1/runs/{run_id}/resume", { invalidates: SPOILS, done: notify("Resumed the graph run") });
  const cancel = useApiMutation("POST /v1/runs/{run_id}/cancel", { invalidates: SPOILS, done: notify("Cancelled the graph run") });
  return (
    <>
      {mayRetry && RETRYABLE_STATUSES.has(graph.status) && (
        <Button look="primary" icon="redo" onClick={() => setAction("retry")}>
          Retry failed steps
        </Button>
      )}
      {mayPause && !isOver && graph.paused_at === null && (
        <Button icon="pause" onClick={() => setAction("pause")}>
          Pause
        </Button>
      )}
      {mayPause && !isOver && graph.paused_at !== null && (
        <Button look="primary" icon="play" disabled={resume.isPending} onClick={() => resume.mutate({ path })}>
          Resume
        </Button>
      )}
      {mayCancel && !isOver && (
        <Button look="danger" icon="stop" onClick={() => setAction("cancel")}>
          Cancel graph run
        </Button>
      )}
      {action === "retry" && (
        <FormDialog title="Retry failed steps?" action="Retry" close={close} act={() => retry.mutate({ path })} busy={retry.isPending} error={retry.error}>
          <p>Succeeded steps keep their results. Failed steps run again, and steps skipped because of them are re-evaluated.</p>
        </FormDialog>
      )}
      {action === "pause" && (
        <FormDialog title="Pause this graph run?" action="Pause" close={close} act={() => pause.mutate({ path })} busy={pause.isPending} error={pause.error}>
          <p>Active steps finish; no new step starts until the graph run is resumed.</p>
        </FormDialog>
      )}
      {action === "cancel" && (
        <ConfirmDialog title="Cancel this graph run?" action="Cancel graph run" close={close} act={() => cancel.mutate({ path, body: {} })} busy={cancel.isPending} error={cancel.error}>
          <p>Running steps are asked to stop; waiting steps are cancelled.</p>
        </ConfirmDialog>
      )}
    </>
  );
}
