// What can be done with dead letters: go again at a pace, go again with another payload, be dropped.
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useLocation } from "wouter";
import { ask } from "../../api/client.ts";
import { spoil, useAsk, useTell } from "../../api/queries.ts";
import type { BulkDone, DeadGroupView, RunDetail } from "../../api/schema.gen.ts";
import { count } from "../../lib/figures.ts";
import { ProgressBar } from "../../ui/Card.tsx";
import { ConfirmDialog, FormDialog } from "../../ui/Dialog.tsx";
import { CheckField, SelectField } from "../../ui/Fields.tsx";
import { Answered } from "../../ui/Notes.tsx";
import { PayloadForm, usePayload } from "../../ui/PayloadForm.tsx";
import { toast } from "../../ui/Toast.tsx";
import { PACES, filterOf, lasting } from "./model.ts";

/** Calls again with the token of each answer, until nothing is left; stops when it is closed. */
function useMany(call: (token: string, before: number) => Promise<BulkDone>, said: (number: number) => string, close: () => void) {
  const client = useQueryClient();
  const [done, setDone] = useState<number | null>(null);
  const [error, setError] = useState<unknown>(null);
  const begin = async (first: string) => {
    let token: string | null = first;
    let before = 0;
    setError(null);
    setDone(0);
    try {
      while (token !== null) {
        const answer: BulkDone = await call(token, before);
        before += answer.done;
        token = answer.token;
        setDone(before);
      }
      toast(said(before));
      close();
    } catch (caught) {
      setError(caught);
    }
    setDone(null);
    await Promise.all([spoil(client, "GET /v1/dead-letters/groups"), spoil(client, "GET /v1/dead-letters")]);
  };
  return { done, error, begin };
}

export function ReplayDialog({ group, close }: { group: DeadGroupView; close: () => void }) {
  const [pace, setPace] = useState("");
  const filter = filterOf(group);
  const perMinute = pace === "" ? null : Number(pace);
  const counted = useCounted("POST /v1/dead-letters/replay", group);
  const many = useMany(
    (token, before) => ask("POST /v1/dead-letters/replay", { body: { filter, token, per_minute: perMinute, before } }),
    (number) => `${count(number, "run")} ${number === 1 ? "goes" : "go"} again.`,
    close,
  );
  return (
    <FormDialog
      title="Replay dead letters"
      close={close}
      action="Replay"
      act={() => void (counted.data?.token && many.begin(counted.data.token))}
      busy={many.done !== null}
      error={many.error}
      disabled={!counted.data?.matched}
    >
      <Matched asked={counted} group={group} />
      <SelectField label="How fast" value={pace} change={setPace} options={PACES} hint={lasting(counted.data?.matched ?? 0, perMinute)} />
      {many.done !== null && <ProgressBar name="Let go again" share={many.done / Math.max(1, counted.data?.matched ?? 1)} />}
    </FormDialog>
  );
}

export function DropDialog({ group, close }: { group: DeadGroupView; close: () => void }) {
  const filter = filterOf(group);
  const counted = useCounted("POST /v1/dead-letters/drop", group);
  const many = useMany(
    (token) => ask("POST /v1/dead-letters/drop", { body: { filter, token } }),
    (number) => `${count(number, "dead letter")} dropped.`,
    close,
  );
  return (
    <ConfirmDialog
      title="Drop dead letters?"
      close={close}
      action="Drop"
      act={() => void (counted.data?.token && many.begin(counted.data.token))}
      busy={many.done !== null}
      error={many.error}
      disabled={!counted.data?.matched}
    >
      <Matched asked={counted} group={group} />
      <p className="soft">They leave this list and stay in history. They can still be replayed one by one.</p>
    </ConfirmDialog>
  );
}

/** A dry run: how many there are now, and the token to do it. Asked anew each time. */
function useCounted(operation: "POST /v1/dead-letters/replay" | "POST /v1/dead-letters/drop", group: DeadGroupView) {
  return useAsk(operation, { body: { filter: filterOf(group), dry_run: true } }, { staleTime: 0 });
}

function Matched({ asked, group }: { asked: ReturnType<typeof useCounted>; group: DeadGroupView }) {
  return (
    <Answered asked={asked} what="how many there are">
      {({ matched }) => (
        <p>
          {count(matched, "dead letter")} of <strong>{group.job_name ?? group.job_id}</strong> with the error <strong>{group.error_type}</strong>
          {matched > group.count && " (whatever its message)"}.
        </p>
      )}
    </Answered>
  );
}

/** A new run with another payload; the dead one may go. */
export function EditDialog({ run, close }: { run: RunDetail; close: () => void }) {
  const kinds = useAsk("GET /v1/kinds", {}, { staleTime: 60_000 });
  if (kinds.isPending) return null;
  const schema = kinds.data?.data.find((each) => each.kind === run.kind)?.payload_schema ?? null;
  return <EditForm run={run} schema={schema} close={close} />;
}

function EditForm({ run, schema, close }: { run: RunDetail; schema: Record<string, unknown> | null; close: () => void }) {
  const payload = usePayload(schema, run.payload);
  const [drops, setDrops] = useState(true);
  const [, navigate] = useLocation();
  const drop = useTell("DELETE /v1/dead-letters/{run_id}", { spoils: ["GET /v1/dead-letters/groups", "GET /v1/dead-letters"] });
  const replay = useTell("POST /v1/runs/{run_id}/replay", {
    done: (made) => {
      toast("A new run with this payload waits.");
      if (drops) drop.mutate({ path: { run_id: run.run_id } });
      close();
      if (made.run_id) navigate(`/runs/${made.run_id}`);
    },
  });
  return (
    <FormDialog
      title="Edit and replay"
      wide
      close={close}
      action="Replay"
      act={() => replay.mutate({ path: { run_id: run.run_id }, body: { payload: payload.value } })}
      busy={replay.isPending}
      error={replay.error}
      disabled={payload.error !== null}
    >
      <PayloadForm payload={payload} />
      <CheckField label="Take the dead one off the list" checked={drops} change={setDrops} />
    </FormDialog>
  );
}
