// The form of a job, new or not: what it does, when, and how.
import { type FormEvent, type ReactNode, useId, useMemo, useState } from "react";
import { JOB_FIELDS, type JobField } from "../../api/job_fields.gen.ts";
import type { Schema } from "../../lib/schema.ts";
import { fieldLabel, sentence } from "../../lib/words.ts";
import { Button, ButtonLink } from "../../ui/Button.tsx";
import { Card } from "../../ui/Card.tsx";
import { AreaField, SelectField, TextField } from "../../ui/Fields.tsx";
import { ErrorNote, Note } from "../../ui/Notes.tsx";
import { PayloadForm, usePayload } from "../../ui/PayloadForm.tsx";
import { ZONE } from "../../ui/Time.tsx";
import { type JobForm, wrong } from "./drafts.ts";
import { useKinds } from "./kinds.ts";
import { LivePreview } from "./Preview.tsx";
import { useLivePreview } from "./preview.ts";
import { ScheduleFields } from "./ScheduleFields.tsx";
import { scheduleOf } from "./schedules.ts";

interface Refused {
  of?: (pointer: string) => string | null;
}

interface Given {
  start: JobForm;
  payload: unknown;
  isNew: boolean;
  action: string;
  back: string;
  busy: boolean;
  error: Error | null;
  /** Beside the buttons: what has changed, and what that means. */
  note?: ReactNode;
  send: (form: JobForm, payload: unknown) => void;
}

export function JobFormView({ start, payload: given, isNew, action, back, busy, error, note, send }: Given) {
  const [form, setForm] = useState(start);
  const kinds = useKinds();
  const kind = kinds?.find((each) => each.kind === form.kind.trim());
  const schema = (kind?.payload_schema ?? null) as Schema | null;
  const payload = usePayload(schema, given);
  const problems = useMemo(() => wrong(form, ZONE), [form]);
  const [isTried, setTried] = useState(false);
  const schedule = useMemo(() => scheduleOf(form.schedule, ZONE).schedule, [form.schedule]);
  const hasTimes = !["on_demand", "immediate", "event"].includes(form.schedule.mode);
  const live = useLivePreview(hasTimes ? schedule : null);
  const set = (changes: Partial<JobForm>) => setForm((before) => ({ ...before, ...changes }));
  const refused = error as Refused | null;
  const told = (field: string, ...pointers: string[]) => (isTried ? problems[field] : null) ?? pointers.map((each) => refused?.of?.(each)).find(Boolean) ?? null;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setTried(true);
    if (Object.keys(problems).length === 0 && payload.error === null) send(form, payload.value);
  };
  return (
    <form className="stack stack-wide form-page" onSubmit={submit} noValidate>
      <Card title="What">
        <div className="stack">
          <div className="grid-2">
            <TextField label={isNew ? "Name (optional)" : "Name"} value={form.name} change={(name) => set({ name })} error={told("name", "/name")} hint="Unique in the tenant." maxLength={200} />
            <KindField value={form.kind} known={kinds?.map((each) => each.kind) ?? []} change={(next) => set({ kind: next })} error={told("kind", "/kind")} />
          </div>
          {kinds && form.kind.trim() !== "" && !kind && (
            <Note small tone="warn">
              No live worker serves the kind {form.kind.trim()}; its runs wait until one does.
            </Note>
          )}
          <PayloadForm payload={payload} hint="What the handler is given." />
          {isTried && payload.error && <ErrorNote error={{ message: payload.error }} />}
        </div>
      </Card>
      <Card title="When">
        <div className="form-when">
          <ScheduleFields form={form.schedule} change={(next) => set({ schedule: next })} isNew={isNew} error={problems["schedule"] ?? (live.error === null ? null : sentence(live.error))} />
          <section aria-label="What that means" className="form-meaning">
            <LivePreview live={live} meaning={problems["schedule"] ?? MEANINGS[form.schedule.mode] ?? ""} />
          </section>
        </div>
      </Card>
      <Card title="How">
        <How form={form} set={set} told={told} />
      </Card>
      <div className="form-foot">
        {error && (
          <div className="grow">
            <ErrorNote error={error} />
          </div>
        )}
        {isTried && Object.keys(problems).length > 0 && (
          <div className="grow">
            <ErrorNote error={{ message: Object.values(problems)[0] ?? "" }} />
          </div>
        )}
        {note}
        <ButtonLink href={back}>Cancel</ButtonLink>
        <Button type="submit" look="primary" disabled={busy}>
          {busy ? "Working…" : action}
        </Button>
      </div>
    </form>
  );
}

const MEANINGS: Record<string, string> = {
  on_demand: "It runs only when somebody runs it: here, by the API, or from a program.",
  immediate: "It runs once, as soon as a worker has a free slot.",
  event: "It runs whenever an event of that name arrives.",
};

function KindField({ value, known, change, error }: { value: string; known: readonly string[]; change: (kind: string) => void; error: string | null }) {
  const list = useId();
  return (
    <>
      <TextField label="Kind" value={value} change={change} list={list} error={error} hint="Which handler carries it out; the name unless it is said." />
      <datalist id={list}>
        {known.map((each) => (
          <option key={each} value={each} />
        ))}
      </datalist>
    </>
  );
}

interface HowGiven {
  form: JobForm;
  set: (changes: Partial<JobForm>) => void;
  told: (field: string, ...pointers: string[]) => string | null;
}

function How({ form, set, told }: HowGiven) {
  return (
    <div className="stack">
      <div className="grid-2">
        {JOB_FIELDS.map((field) => (
          <HowField key={field.name} field={field} value={form[field.name]} change={(text) => set({ [field.name]: text })} error={told(field.name, field.kind === "retries" ? "/max_retries" : `/${field.name}`)} />
        ))}
      </div>
      <AreaField label="Labels" value={form.labels} change={(labels) => set({ labels })} error={told("labels", "/labels")} rows={3} hint="One in a line, such as team: billing." />
    </div>
  );
}

/** One field of the contract; what is not worded here has its name and its description. */
function HowField({ field, value, change, error }: { field: JobField; value: string; change: (text: string) => void; error: string | null }) {
  const { label, hint, placeholder, options } = WORDS[field.name] ?? {};
  const around = { label: label ?? fieldLabel(field.name), value, change, error };
  const choices = options ?? field.choices.map((each) => ({ value: each, label: each.replaceAll("_", " ") }));
  if (choices.length > 0) return <SelectField {...around} options={choices} />;
  const told = { hint: hint ?? field.description.replaceAll("`", ""), placeholder, maxLength: field.maxLength ?? undefined };
  if (field.kind === "text" && (field.maxLength ?? 0) > 300) return <AreaField {...around} {...told} rows={3} />;
  return <TextField {...around} {...told} inputMode={field.kind === "retries" ? "numeric" : undefined} />;
}

interface Words {
  label?: string;
  hint?: string;
  placeholder?: string;
  options?: readonly { value: string; label: string }[];
}

const PRIORITIES = Array.from({ length: 10 }, (_, level) => ({
  value: String(level),
  label: level === 0 ? "0 (goes first)" : level === 5 ? "5 (usual)" : level === 9 ? "9 (goes last)" : String(level),
}));
const OVERLAPS = [
  { value: "skip", label: "skip the new one" },
  { value: "queue_one", label: "let one wait" },
  { value: "queue_all", label: "let all wait" },
  { value: "cancel_running", label: "cancel what runs" },
  { value: "terminate_running", label: "end what runs by force" },
  { value: "allow", label: "let both run" },
];
const PAUSES = [
  { value: "skip", label: "skip that time" },
  { value: "accumulate", label: "let it wait for the queue" },
];
const GUARANTEES = [
  { value: "at_least_once", label: "run again: at least once" },
  { value: "at_most_once", label: "do not: at most once" },
  { value: "exactly_once", label: "exactly once: the handler commits its run itself" },
];
const WORDS: Record<string, Words> = {
  retries: { hint: "After the first attempt." },
  timeout: { label: "An attempt may take", placeholder: "any time", hint: "Such as 15m; empty is no limit." },
  deadline: { label: "A run may take", placeholder: "any time", hint: "From its due time, with all retries; empty is no limit." },
  guarantee: { label: "If a worker is lost", options: GUARANTEES },
  target: { label: "Depends on", placeholder: "what its kind tells", hint: "While it does not answer, runs wait." },
  queue: { hint: "Which workers serve it." },
  priority: { options: PRIORITIES },
  overlap: { label: "If a run of it is alive when it is due", options: OVERLAPS },
  when_queue_paused: { label: "If its queue is paused when it is due", options: PAUSES },
  user_id: { label: "User", placeholder: "nobody", hint: "For your own bookkeeping." },
};
