// The fields of what a rule or a silence applies to.
import { TextField } from "../../ui/Fields.tsx";
import type { MatchTexts } from "./model.ts";

export function MatchInputs({ fields, set }: { fields: MatchTexts; set: (changes: Partial<MatchTexts>) => void }) {
  return (
    <div className="grid-2">
      <TextField label="Job" value={fields.job} change={(job) => set({ job })} hint="A name, or a pattern with *. Empty: any." />
      <TextField label="Task" value={fields.task} change={(task) => set({ task })} hint="Empty: any." mono />
      <TextField label="Queue" value={fields.queue} change={(queue) => set({ queue })} hint="Empty: any." mono />
      <TextField label="Label" value={fields.label} change={(label) => set({ label })} hint="As in team:billing. Empty: any." mono />
    </div>
  );
}
