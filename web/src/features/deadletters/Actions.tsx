// What can be done with a group of dead letters: requeue it at a pace, requeue it with a changed
// payload, drop it. Each acts on the filter of the group as it was read, and counts it first.
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { ask } from "../../api/client.ts";
import { spoil, useAsk } from "../../api/queries.ts";
import type { BulkDone, DeadGroupDetail } from "../../api/schema.gen.ts";
import { count } from "../../lib/figures.ts";
import { read } from "../../lib/json.ts";
import { isObject, mergePatch } from "../../lib/mergepatch.ts";
import { Figure, ProgressBar } from "../../ui/Card.tsx";
import { ConfirmDialog, FormDialog } from "../../ui/Dialog.tsx";
import { JsonField, SelectField } from "../../ui/Fields.tsx";
import { JsonView } from "../../ui/Json.tsx";
import { Answered } from "../../ui/Notes.tsx";
import { toast } from "../../ui/Toast.tsx";
import { PACES, filterOf, lasting, these } from "./model.ts";

type Shown = { group: DeadGroupDetail; close: () => void };

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
    await Promise.all([spoil(client, "GET /v1/dead-letters/groups"), spoil(client, "GET /v1/dead-letters/groups/{kind}/{fingerprint}"), spoil(client, "GET /v1/dead-letters")]);
  };
  return { done, error, begin };
}

export function ReplayDialog({ group, close }: Shown) {
  const [pace, setPace] = useState("");
  const filter = filterOf(group);
  const perMinute = pace === "" ? null : Number(pace);
  const counted = useAsk("POST /v1/dead-letters/replay", { body: { filter, dry_run: true } }, { staleTime: 0 });
  const many = useMany(
    (token, before) => ask("POST /v1/dead-letters/replay", { body: { filter, token, per_minute: perMinute, before } }),
    (number) => `${count(number, "run")} requeued.`,
    close,
  );
  return (
    <FormDialog
      title="Requeue dead letters"
      close={close}
      action={`Requeue ${these(counted.data?.matched ?? group.count)}`}
      act={() => void (counted.data?.token && many.begin(counted.data.token))}
      busy={many.done !== null}
      error={many.error}
      disabled={!counted.data?.matched}
    >
      <Matched asked={counted} group={group} />
      <SelectField label="How fast" value={pace} change={setPace} options={PACES} hint={lasting(counted.data?.matched ?? 0, perMinute)} />
      <Progress done={many.done} of={counted.data?.matched} />
    </FormDialog>
  );
}

export function DropDialog({ group, close }: Shown) {
  const filter = filterOf(group);
  const counted = useAsk("POST /v1/dead-letters/drop", { body: { filter, dry_run: true } }, { staleTime: 0 });
  const many = useMany(
    (token) => ask("POST /v1/dead-letters/drop", { body: { filter, token } }),
    (number) => `${count(number, "dead letter")} dropped.`,
    close,
  );
  return (
    <ConfirmDialog
      title="Drop dead letters?"
      close={close}
      action={`Drop ${these(counted.data?.matched ?? group.count)}`}
      act={() => void (counted.data?.token && many.begin(counted.data.token))}
      busy={many.done !== null}
      error={many.error}
      disabled={!counted.data?.matched}
    >
      <Matched asked={counted} group={group} />
      <p className="soft">They leave this list and stay in history. Each can still be replayed from its own page.</p>
      <Progress done={many.done} of={counted.data?.matched} />
    </ConfirmDialog>
  );
}

/** Each becomes a new run with the changed payload; the dead ones are dropped. */
export function EditDialog({ group, close }: Shown) {
  const [text, setText] = useState("{}");
  const filter = filterOf(group);
  const patch = read(text).value;
  const counted = useAsk("POST /v1/dead-letters/edit", { body: { filter, dry_run: true } }, { staleTime: 0 });
  const many = useMany(
    (token, before) => ask("POST /v1/dead-letters/edit", { body: { filter, token, before, patch: isObject(patch) ? patch : {} } }),
    (number) => `${count(number, "run")} requeued with the changed payload.`,
    close,
  );
  const isEdit = isObject(patch) && Object.keys(patch).length > 0;
  return (
    <FormDialog
      title="Edit and requeue"
      wide
      close={close}
      action={`Edit and requeue ${these(counted.data?.matched ?? group.count)}`}
      act={() => void (counted.data?.token && many.begin(counted.data.token))}
      busy={many.done !== null}
      error={many.error}
      disabled={!counted.data?.matched || !isEdit}
    >
      <Matched asked={counted} group={group} />
      <JsonField
        label="Changes to each payload"
        hint="A JSON object. Its fields replace those of the payload; null removes a field. Each run keeps its other fields."
        text={text}
        change={setText}
        {...(patch !== undefined && !isObject(patch) ? { error: "Write a JSON object with the fields to change." } : {})}
      />
      {isEdit && (
        <div className="stack stack-tight">
          <span className="field-label">The payload of the newest run, changed</span>
          <JsonView value={mergePatch(group.sample.payload, patch)} name="changed payload" />
        </div>
      )}
      <p className="soft">Each becomes a new run. The dead ones leave this list and stay in history with the payload they had.</p>
      <Progress done={many.done} of={counted.data?.matched} />
    </FormDialog>
  );
}

function Progress({ done, of }: { done: number | null; of: number | undefined }) {
  return done === null ? null : <ProgressBar name="Done" share={done / Math.max(1, of ?? 1)} />;
}

/** A dry run: how many there are, of which task and error. */
function Matched({ asked, group }: { asked: Parameters<typeof Answered<BulkDone>>[0]["asked"]; group: DeadGroupDetail }) {
  return (
    <Answered asked={asked} what="the count">
      {({ matched }) => (
        <p>
          <Figure of="dead.matched">{count(matched, "dead letter")}</Figure> of <strong>{group.kind}</strong> with <strong>{group.error_type}</strong>: {group.message}
        </p>
      )}
    </Answered>
  );
}
