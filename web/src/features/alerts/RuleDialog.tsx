// Creates a rule: a condition for all jobs, tasks or queues that match.
import { useState } from "react";
import { useApiMutation } from "../../api/queries.ts";
import { FormDialog } from "../../ui/Dialog.tsx";
import { SelectField, TextField } from "../../ui/Fields.tsx";
import { toast } from "../../ui/Toast.tsx";
import { MatchInputs } from "./MatchInputs.tsx";
import { CONDITIONS, NO_RULE, type RuleFields, ruleOf } from "./rules.ts";

export function RuleDialog({ close }: { close: () => void }) {
  const [fields, setFields] = useState<RuleFields>(NO_RULE);
  const set = (changes: Partial<RuleFields>) => setFields((before) => ({ ...before, ...changes }));
  const create = useApiMutation("POST /v1/expectations", {
    invalidates: ["GET /v1/expectations"],
    done: (rule) => {
      toast(rule.warnings?.length ? `Created ${rule.name}: ${rule.warnings.join("; ")}` : `Created ${rule.name}`);
      close();
    },
  });
  const condition = CONDITIONS.find(({ value }) => value === fields.condition) ?? CONDITIONS[0];
  return (
    <FormDialog title="New rule" close={close} action="Create rule" act={() => create.mutate({ body: ruleOf(fields) })} busy={create.isPending} error={create.error} disabled={fields.name.trim() === "" || fields.limit.trim() === ""}>
      <TextField label="Name" value={fields.name} change={(name) => set({ name })} maxLength={200} autoFocus hint="Unique in the tenant." />
      <SelectField label="Condition" value={fields.condition} change={(next) => set({ condition: next, limit: CONDITIONS.find(({ value }) => value === next)?.example ?? "" })} options={CONDITIONS} />
      <TextField label="Limit" value={fields.limit} change={(limit) => set({ limit })} hint={condition.hint} />
      <MatchInputs fields={fields} set={set} />
      <div className="grid-2">
        <SelectField label="Severity" value={fields.severity} change={(severity) => set({ severity: severity as RuleFields["severity"] })} options={["warning", "page", "info"]} />
        <TextField label="Report to" value={fields.to} change={(to) => set({ to })} hint="A route or a channel. Empty: the default channels." />
      </div>
      <TextField label="Only if it lasts" value={fields.holdFor} change={(holdFor) => set({ holdFor })} hint="For example 2m. Empty: at once." />
    </FormDialog>
  );
}
