// What can be done with a run: each is a dialog that stays open, with the reason, if it is refused.
import { useState } from "react";
import { useLocation } from "wouter";
import { useAsk, useTell } from "../../api/queries.ts";
import type { RunDetail } from "../../api/schema.gen.ts";
import { useMay } from "../../api/session.ts";
import type { Schema } from "../../lib/schema.ts";
import { Button } from "../../ui/Button.tsx";
import { ConfirmDialog, FormDialog } from "../../ui/Dialog.tsx";
import { CheckField, TextField } from "../../ui/Fields.tsx";
import { PayloadForm, usePayload } from "../../ui/PayloadForm.tsx";
import { toast } from "../../ui/Toast.tsx";
import { possible } from "./model.ts";

type Action = "cancel" | "retry" | "replay";

const SPOILS = ["GET /v1/runs", "GET /v1/runs/{run_id}", "GET /v1/runs/{run_id}/attempts", "GET /v1/runs/{run_id}/explain"] as const;

export function RunActions({ run }: { run: RunDetail }) {
  const [action, setAction] = useState<Action | null>(null);
  const can = possible(run.status);
  const close = () => setAction(null);
  const mayCancel = useMay("POST /v1/runs/{run_id}/cancel");
  const mayRetry = useMay("POST /v1/runs/{run_id}/retry");
  const mayReplay = useMay("POST /v1/runs/{run_id}/replay");
  return (
    <>
      {mayRetry && can.retry && (
        <Button look="primary" sign="redo" onClick={() => setAction("retry")}>
          Retry
        </Button>
      )}
      {mayReplay && can.replay && run.step === null && (
        <Button sign="copy" onClick={() => setAction("replay")}>
          Replay…
        </Button>
      )}
      {mayCancel && (can.cancel || can.force) && (
        <Button look="danger" sign="stop" onClick={() => setAction("cancel")}>
          {can.cancel ? "Cancel…" : "Force…"}
        </Button>
      )}
      {action === "cancel" && <Cancel run={run} close={close} />}
      {action === "retry" && <Retry run={run} close={close} />}
      {action === "replay" && <Replay run={run} close={close} />}
    </>
  );
}

interface Given {
  run: RunDetail;
  close: () => void;
}

function Cancel({ run, close }: Given) {
  const can = possible(run.status);
  const [reason, setReason] = useState("");
  const [isForced, setForced] = useState(!can.cancel);
  const cancel = useTell("POST /v1/runs/{run_id}/cancel", {
    spoils: SPOILS,
    done: (answer) => {
      toast(answer.status === "cancelling" ? "It was asked to stop." : "It is cancelled.");
      close();
    },
  });
  const act = () => cancel.mutate({ path: { run_id: run.run_id }, body: { force: isForced, ...(reason ? { reason } : {}) } });
  return (
    <ConfirmDialog title="Cancel this run?" action={isForced ? "End it now" : "Cancel the run"} close={close} act={act} busy={cancel.isPending} error={cancel.error}>
      <p>
        {can.force
          ? "Its worker is asked to stop; a handler gets the time of its grace to clean up. A run that is cancelled is not tried again."
          : "It has not started and ends at once. A run that is cancelled is not tried again."}
      </p>
      <TextField label="Why, for whoever asks later" value={reason} change={setReason} maxLength={1000} />
      {can.force && <CheckField label="Do not wait for the worker: end it now and refuse its result" checked={isForced} change={setForced} disabled={!can.cancel} />}
    </ConfirmDialog>
  );
}

function Retry({ run, close }: Given) {
  const retry = useTell("POST /v1/runs/{run_id}/retry", {
    spoils: SPOILS,
    done: () => {
      toast("It goes again.");
      close();
    },
  });
  return (
    <FormDialog title="Retry this run?" action="Retry" close={close} act={() => retry.mutate({ path: { run_id: run.run_id } })} busy={retry.isPending} error={retry.error}>
      <p>It is the same run again, with its id, its payload and a new series of attempts. To run it with another payload, replay it.</p>
    </FormDialog>
  );
}

function Replay({ run, close }: Given) {
  const kinds = useAsk("GET /v1/kinds", {}, { staleTime: 60_000 });
  const schema = (kinds.data?.data.find((each) => each.kind === run.kind)?.payload_schema ?? null) as Schema | null;
  const [, navigate] = useLocation();
  const payload = usePayload(schema, run.payload);
  const replay = useTell("POST /v1/runs/{run_id}/replay", {
    spoils: SPOILS,
    done: (answer) => {
      toast("A new run was made.");
      close();
      navigate(`/runs/${answer.run_id}`);
    },
  });
  const isOwn = JSON.stringify(payload.value) === JSON.stringify(run.payload ?? null);
  const act = () => replay.mutate({ path: { run_id: run.run_id }, body: isOwn ? {} : { payload: payload.value } });
  return (
    <FormDialog title="Replay this run" action="Replay" close={close} act={act} busy={replay.isPending} error={replay.error} disabled={payload.error !== null} wide>
      <p>A new run of the same job is made, with this payload. The old one stays as it is.</p>
      <PayloadForm payload={payload} />
    </FormDialog>
  );
}
