// The actions of a run. Each is a dialog that stays open with the reason if the API refuses the action.
import { useState } from "react";
import { useLocation } from "wouter";
import { useApiQuery, useApiMutation } from "../../api/queries.ts";
import type { RunDetail } from "../../api/schema.gen.ts";
import { useMay } from "../../api/session.ts";
import type { Schema } from "../../lib/schema.ts";
import { Button } from "../../ui/Button.tsx";
import { ConfirmDialog, FormDialog } from "../../ui/Dialog.tsx";
import { CheckField, TextField } from "../../ui/Fields.tsx";
import { PayloadForm, usePayload } from "../../ui/PayloadForm.tsx";
import { toast } from "../../ui/Toast.tsx";
import { allowedActions } from "./model.ts";

type Action = "cancel" | "retry" | "replay";

const SPOILS = ["GET /v1/runs", "GET /v1/runs/{run_id}", "GET /v1/runs/{run_id}/attempts", "GET /v1/runs/{run_id}/explain"] as const;

export function RunActions({ run }: { run: RunDetail }) {
  const [action, setAction] = useState<Action | null>(null);
  const can = allowedActions(run.status);
  const close = () => setAction(null);
  const mayCancel = useMay("POST /v1/runs/{run_id}/cancel");
  const mayRetry = useMay("POST /v1/runs/{run_id}/retry");
  const mayReplay = useMay("POST /v1/runs/{run_id}/replay");
  return (
    <>
      {mayRetry && can.retry && (
        <Button look="primary" icon="redo" onClick={() => setAction("retry")}>
          Retry
        </Button>
      )}
      {mayReplay && can.replay && run.step === null && (
        <Button icon="copy" onClick={() => setAction("replay")}>
          Replay
        </Button>
      )}
      {mayCancel && (can.cancel || can.force) && (
        <Button look="danger" icon="stop" onClick={() => setAction("cancel")}>
          {can.cancel ? "Cancel run" : "Force cancel"}
        </Button>
      )}
      {action === "cancel" && <Cancel run={run} close={close} />}
      {action === "retry" && <Retry run={run} close={close} />}
      {action === "replay" && <Replay run={run} close={close} />}
    </>
  );
}

interface DialogProps {
  run: RunDetail;
  close: () => void;
}

function Cancel({ run, close }: DialogProps) {
  const can = allowedActions(run.status);
  const [reason, setReason] = useState("");
  const [isForced, setForced] = useState(!can.cancel);
  const cancel = useApiMutation("POST /v1/runs/{run_id}/cancel", {
    invalidates: SPOILS,
    done: (answer) => {
      toast(answer.status === "cancelling" ? "Asked the worker to stop the run" : "Cancelled the run");
      close();
    },
  });
  const act = () => cancel.mutate({ path: { run_id: run.run_id }, body: { force: isForced, ...(reason ? { reason } : {}) } });
  return (
    <ConfirmDialog title="Cancel this run?" action={isForced ? "Force cancel" : "Cancel run"} close={close} act={act} busy={cancel.isPending} error={cancel.error}>
      <p>
        {can.force
          ? "The worker is asked to stop; the handler has its grace period to clean up. A cancelled run is not retried."
          : "The run has not started and ends at once. A cancelled run is not retried."}
      </p>
      <TextField label="Reason (optional)" value={reason} change={setReason} maxLength={1000} />
      {can.force && <CheckField label="Force: end the run now and discard the worker's result" checked={isForced} change={setForced} disabled={!can.cancel} />}
    </ConfirmDialog>
  );
}

function Retry({ run, close }: DialogProps) {
  const retry = useApiMutation("POST /v1/runs/{run_id}/retry", {
    invalidates: SPOILS,
    done: () => {
      toast("Retrying the run");
      close();
    },
  });
  return (
    <FormDialog title="Retry this run?" action="Retry" close={close} act={() => retry.mutate({ path: { run_id: run.run_id } })} busy={retry.isPending} error={retry.error}>
      <p>Runs again under the same id with the same payload and a new series of attempts. To change the payload, replay the run instead.</p>
    </FormDialog>
  );
}

function Replay({ run, close }: DialogProps) {
  const kinds = useApiQuery("GET /v1/kinds", {}, { staleTime: 60_000 });
  const schema = (kinds.data?.data.find((each) => each.kind === run.kind)?.payload_schema ?? null) as Schema | null;
  const [, navigate] = useLocation();
  const payload = usePayload(schema, run.payload);
  const replay = useApiMutation("POST /v1/runs/{run_id}/replay", {
    invalidates: SPOILS,
    done: (answer) => {
      toast("Created a new run");
      close();
      navigate(`/runs/${answer.run_id}`);
    },
  });
  const isUnchanged = JSON.stringify(payload.value) === JSON.stringify(run.payload ?? null);
  const act = () => replay.mutate({ path: { run_id: run.run_id }, body: isUnchanged ? {} : { payload: payload.value } });
  return (
    <FormDialog title="Replay this run" action="Replay" close={close} act={act} busy={replay.isPending} error={replay.error} disabled={payload.error !== null} wide>
      <p>Creates a new run of the same job with this payload. The original run stays unchanged.</p>
      <PayloadForm payload={payload} />
    </FormDialog>
  );
}
