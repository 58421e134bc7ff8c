// The actions on a group of dead letters: requeue at a pace, requeue with a changed payload, drop. Each
// counts first, and acts on exactly the group that was shown.
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { callApi } from "../../api/client.ts";
import { invalidateOperation, useApiQuery } from "../../api/queries.ts";
import type { BulkActionResult, DeadGroupDetail } from "../../api/schema.gen.ts";
import { formatCount } from "../../lib/figures.ts";
import { parseJson } from "../../lib/json.ts";
import { isObject, mergePatch } from "../../lib/mergepatch.ts";
import { Figure, ProgressBar } from "../../ui/Card.tsx";
import { ConfirmDialog, FormDialog } from "../../ui/Dialog.tsx";
import { JsonField, SelectField } from "../../ui/Fields.tsx";
import { JsonView } from "../../ui/JsonView.tsx";
import { QueryView } from "../../ui/Notes.tsx";
import { toast } from "../../ui/Toast.tsx";
import { PACES, filterOf, describePace, formatRuns } from "./model.ts";

type DialogProps = { group: DeadGroupDetail; close: () => void };

/** Repeats a bulk call with the token of each response until nothing is left. */
function useBulkAction(call: (token: string, before: number) => Promise<BulkActionResult>, describe: (number: number) => string, close: () => void) {
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
        const answer: BulkActionResult = await call(token, before);
        before += answer.done;
        token = answer.token;
        setDone(before);
      }
      toast(describe(before));
      close();
    } catch (caught) {
      setError(caught);
    }
    setDone(null);
    await Promise.all([invalidateOperation(client, "GET /v1/dead-letters/groups"), invalidateOperation(client, "GET /v1/dead-letters/groups/{kind}/{fingerprint}"), invalidateOperation(client, "GET /v1/dead-letters")]);
  };
  return { done, error, begin };
}

export function RequeueDialog({ group, close }: DialogProps) {
  const [pace, setPace] = useState("");
  const filter = filterOf(group);
  const perMinute = pace === "" ? null : Number(pace);
  const counted = useApiQuery("POST /v1/dead-letters/replay", { body: { filter, dry_run: true } }, { staleTime: 0 });
  const bulk = useBulkAction(
    (token, before) => callApi("POST /v1/dead-letters/replay", { body: { filter, token, per_minute: perMinute, before } }),
    (number) => `Requeued ${formatCount(number, "run")}`,
    close,
  );
  return (
    <FormDialog
      title="Requeue dead letters"
      close={close}
      action={`Requeue ${formatRuns(counted.data?.matched ?? group.count)}`}
      act={() => void (counted.data?.token && bulk.begin(counted.data.token))}
      busy={bulk.done !== null}
      error={bulk.error}
      disabled={!counted.data?.matched}
    >
      <Matched query={counted} group={group} />
      <SelectField label="Pace" value={pace} change={setPace} options={PACES} hint={describePace(counted.data?.matched ?? 0, perMinute)} />
      <Progress done={bulk.done} of={counted.data?.matched} />
    </FormDialog>
  );
}

export function DropDialog({ group, close }: DialogProps) {
  const filter = filterOf(group);
  const counted = useApiQuery("POST /v1/dead-letters/drop", { body: { filter, dry_run: true } }, { staleTime: 0 });
  const bulk = useBulkAction(
    (token) => callApi("POST /v1/dead-letters/drop", { body: { filter, token } }),
    (number) => `Dropped ${formatCount(number, "dead letter")}`,
    close,
  );
  return (
    <ConfirmDialog
      title="Drop dead letters?"
      close={close}
      action={`Drop ${formatRuns(counted.data?.matched ?? group.count)}`}
      act={() => void (counted.data?.token && bulk.begin(counted.data.token))}
      busy={bulk.done !== null}
      error={bulk.error}
      disabled={!counted.data?.matched}
    >
      <Matched query={counted} group={group} />
      <p className="soft">Dropped runs leave this list and stay in history. Each can still be replayed from its page.</p>
      <Progress done={bulk.done} of={counted.data?.matched} />
    </ConfirmDialog>
  );
}

/** Creates a new run with the changed payload for each dead letter, and drops the dead letters. */
export function EditDialog({ group, close }: DialogProps) {
  const [text, setText] = useState("{}");
  const filter = filterOf(group);
  const patch = parseJson(text).value;
  const counted = useApiQuery("POST /v1/dead-letters/edit", { body: { filter, dry_run: true } }, { staleTime: 0 });
  const bulk = useBulkAction(
    (token, before) => callApi("POST /v1/dead-letters/edit", { body: { filter, token, before, patch: isObject(patch) ? patch : {} } }),
    (number) => `Requeued ${formatCount(number, "run")} with the changed payload`,
    close,
  );
  const isEdit = isObject(patch) && Object.keys(patch).length > 0;
  return (
    <FormDialog
      title="Edit and requeue"
      wide
      close={close}
      action={`Edit and requeue ${formatRuns(counted.data?.matched ?? group.count)}`}
      act={() => void (counted.data?.token && bulk.begin(counted.data.token))}
      busy={bulk.done !== null}
      error={bulk.error}
      disabled={!counted.data?.matched || !isEdit}
    >
      <Matched query={counted} group={group} />
      <JsonField
        label="Changes to each payload"
        hint="A JSON object. Its fields replace those of the payload; null removes a field. All other fields stay."
        text={text}
        change={setText}
        {...(patch !== undefined && !isObject(patch) ? { error: "Must be a JSON object with the fields to change." } : {})}
      />
      {isEdit && (
        <div className="stack stack-tight">
          <span className="field-label">Payload of the newest run after the change</span>
          <JsonView value={mergePatch(group.sample.payload, patch)} name="changed payload" />
        </div>
      )}
      <p className="soft">Creates a new run for each dead letter. The dead letters leave this list and stay in history with their old payload.</p>
      <Progress done={bulk.done} of={counted.data?.matched} />
    </FormDialog>
  );
}

function Progress({ done, of }: { done: number | null; of: number | undefined }) {
  return done === null ? null : <ProgressBar name="Progress" share={done / Math.max(1, of ?? 1)} />;
}

/** The result of a dry run: the count, with task and error. */
function Matched({ query, group }: { query: Parameters<typeof QueryView<BulkActionResult>>[0]["query"]; group: DeadGroupDetail }) {
  return (
    <QueryView query={query} what="count">
      {({ matched }) => (
        <p>
          <Figure of="dead.matched">{formatCount(matched, "dead letter")}</Figure> of <strong>{group.kind}</strong> with <strong>{group.error_type}</strong>: {group.message}
        </p>
      )}
    </QueryView>
  );
}
