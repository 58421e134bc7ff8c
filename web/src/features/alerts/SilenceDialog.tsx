// Creates a silence: what it applies to, until when, and why.
import { useState } from "react";
import { useApiMutation } from "../../api/queries.ts";
import { toInputValue } from "../../lib/time.ts";
import { FormDialog } from "../../ui/Dialog.tsx";
import { SelectField, TextField } from "../../ui/Fields.tsx";
import { ZONE } from "../../ui/Time.tsx";
import { toast } from "../../ui/Toast.tsx";
import { MatchInputs } from "./MatchInputs.tsx";
import { LENGTHS, type MatchFields, NO_SILENCE, type SilenceFields, describeMatch, endOfFields, matchOfFields } from "./model.ts";

const HOUR_MS = 3_600_000;

/** `match`: the silence of an incident's subject; without it, the user chooses. */
export function SilenceDialog({ match, close }: { match?: MatchFields; close: () => void }) {
  const [fields, setFields] = useState<SilenceFields>(() => ({ ...NO_SILENCE, until: toInputValue(Date.now() + HOUR_MS, ZONE) }));
  const set = (changes: Partial<SilenceFields>) => setFields((before) => ({ ...before, ...changes }));
  const create = useApiMutation("POST /v1/silences", {
    invalidates: ["GET /v1/silences", "GET /v1/incidents", "GET /v1/incidents/{incident_id}", "GET /v1/problems"],
    done: () => {
      toast("Silence created");
      close();
    },
  });
  const end = endOfFields(fields, ZONE);
  const chosen = match ?? matchOfFields(fields);
  const act = () => end && create.mutate({ body: { match: chosen, reason: fields.reason.trim(), ...end } });
  return (
    <FormDialog title={match ? `Silence ${describeMatch(match)}` : "Create silence"} close={close} action="Silence" act={() => void act()} busy={create.isPending} error={create.error} disabled={end === null || fields.reason.trim() === ""}>
      <p className="soft">No messages are sent about what the silence matches. The checks go on, and incidents are still shown.</p>
      {!match && <MatchInputs fields={fields} set={set} />}
      <SelectField label="End" value={fields.length} change={(length) => set({ length })} options={LENGTHS} />
      {fields.length === "until" && <TextField label={`Until (${ZONE})`} type="datetime-local" value={fields.until} change={(until) => set({ until })} hint="At most 30 days from now." />}
      <TextField label="Reason" value={fields.reason} change={(reason) => set({ reason })} maxLength={1000} autoFocus hint="For your colleagues, as in: deployment of the shop." />
    </FormDialog>
  );
}
