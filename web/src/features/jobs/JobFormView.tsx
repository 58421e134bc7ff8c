// The form of a new or existing job: kind and payload, schedule, options, expectations.
import { type FormEvent, type ReactNode, useId, useMemo, useState } from "react";
import { JOB_FIELDS, type JobField } from "../../api/job_fields.gen.ts";
import type { Schema } from "../../lib/schema.ts";
import { fieldLabel, toSentence } from "../../lib/words.ts";
import { Button, ButtonLink } from "../../ui/Button.tsx";
import { Card } from "../../ui/Card.tsx";
import { AreaField, SelectField, TextField } from "../../ui/Fields.tsx";
import { ErrorNote, Note } from "../../ui/Notes.tsx";
import { PayloadForm, usePayload } from "../../ui/PayloadForm.tsx";
import { ZONE } from "../../ui/Time.tsx";
import { type JobForm, validateForm } from "./drafts.ts";
import { ExpectFields } from "./ExpectFields.tsx";
import { useKinds } from "./kinds.ts";
import { LivePreview } from "./Preview.tsx";
import { useLivePreview } from "./preview.ts";
import { ScheduleFields } from "./ScheduleFields.tsx";
import { scheduleOf } from "./schedules.ts";

interface FieldErrors {
  errorAt?: (pointer: string) => string | null;
}

interface JobFormProps {
  start: JobForm;
  payload: unknown;
  isNew: boolean;
  action: string;
  back: string;
  busy: boolean;
  error: Error | null;
  /** Shown beside the buttons. */
  note?: ReactNode;
  send: (form: JobForm, payload: unknown) => void;
}

export function JobFormView({ start, payload: given, isNew, action, back, busy, error, note, send }: JobFormProps) {
  const [form, setForm] = useState(start);
  const kinds = useKinds();
  const kind = kinds?.find((each) => each.kind === form.kind.trim());
  const schema = (kind?.payload_schema ?? null) as Schema | null;
  const payload = usePayload(schema, given);
  const problems = useMemo(() => validateForm(form, ZONE), [form]);
  const [isTried, setTried] = useState(false);
  const schedule = useMemo(() => scheduleOf(form.schedule, ZONE).schedule, [form.schedule]);
  const hasTimes = !["on_demand", "immediate", "event"].includes(form.schedule.mode);
  const live = useLivePreview(hasTimes ? schedule : null);
  const set = (changes: Partial<JobForm>) => setForm((before) => ({ ...before, ...changes }));
  const fieldErrors = error as FieldErrors | null;
  const errorOf = (field: string, ...pointers: string[]) => (isTried ? problems[field] : null) ?? pointers.map((pointer) => fieldErrors?.errorAt?.(pointer)).find(Boolean) ?? null;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setTried(true);
    if (Object.keys(problems).length === 0 && payload.error === null) send(form, payload.value);
  };
  return (
    <form className="stack stack-wide form-page" onSubmit={submit} noValidate>
      <Card title="Job">
        <div className="stack">
          <div className="grid-2">
            <TextField label={isNew ? "Name (optional)" : "Name"} value={form.name} change={(name) => set({ name })} error={errorOf("name", "/name")} hint="Unique in the tenant." maxLength={200} />
            <KindField value={form.kind} known={kinds?.map((each) => each.kind) ?? []} change={(next) => set({ kind: next })} error={errorOf("kind", "/kind")} />
          </div>
          {kinds && form.kind.trim() !== "" && !kind && (
            <Note small tone="warn">
              No running worker serves the kind {form.kind.trim()}; runs wait until one does.
            </Note>
          )}
          <PayloadForm payload={payload} hint="Arguments of the handler." />
          {isTried && payload.error && <ErrorNote error={{ message: payload.error }} />}
        </div>
      </Card>
      <Card title="Schedule">
        <div className="form-when">
          <ScheduleFields form={form.schedule} change={(next) => set({ schedule: next })} isNew={isNew} error={problems["schedule"] ?? (live.error === null ? null : toSentence(live.error))} />
          <section aria-label="Schedule preview" className="form-meaning">
            <LivePreview live={live} meaning={problems["schedule"] ?? MEANINGS[form.schedule.mode] ?? ""} />
          </section>
        </div>
      </Card>
      <Card title="Options">
        <OptionFields form={form} set={set} errorOf={errorOf} />
      </Card>
      <Card title="Expectations">
        <ExpectFields expect={form.expect} alert={form.alert} change={set} errorOf={errorOf} />
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
  on_demand: "Runs on demand only: from this dashboard, the CLI, the API or code.",
  immediate: "Runs once, as soon as a worker has a free slot.",
  event: "Runs whenever an event of this type arrives.",
};

function KindField({ value, known, change, error }: { value: string; known: readonly string[]; change: (kind: string) => void; error: string | null }) {
  const list = useId();
  return (
    <>
      <TextField label="Kind" value={value} change={change} list={list} error={error} hint="Handler that runs the job. Default: the job's name." />
      <datalist id={list}>
        {known.map((each) => (
          <option key={each} value={each} />
        ))}
      </datalist>
    </>
  );
}

interface OptionFieldsProps {
  form: JobForm;
  set: (changes: Partial<JobForm>) => void;
  errorOf: (field: string, ...pointers: string[]) => string | null;
}

/** Documents have fields of their own (ExpectFields). */
const OPTIONS = JOB_FIELDS.filter((field) => field.kind !== "document");

function OptionFields({ form, set, errorOf }: OptionFieldsProps) {
  return (
    <div className="stack">
      <div className="grid-2">
        {OPTIONS.map((field) => (
          <OptionField key={field.name} field={field} value={form[field.name]} change={(text) => set({ [field.name]: text })} error={errorOf(field.name, field.kind === "retries" ? "/max_retries" : `/${field.name}`)} />
        ))}
      </div>
      <AreaField label="Labels" value={form.labels} change={(labels) => set({ labels })} error={errorOf("labels", "/labels")} rows={3} hint="One per line, for example team: billing." />
    </div>
  );
}

/** One field of the contract. Default: label from its name, hint from its description. */
function OptionField({ field, value, change, error }: { field: JobField; value: string; change: (text: string) => void; error: string | null }) {
  const { label, hint, placeholder, options } = FIELD_TEXTS[field.name] ?? {};
  const around = { label: label ?? fieldLabel(field.name), value, change, error };
  const choices = options ?? field.choices.map((each) => ({ value: each, label: each.replaceAll("_", " ") }));
  if (choices.length > 0) return <SelectField {...around} options={choices} />;
  const texts = { hint: hint ?? field.description.replaceAll("`", ""), placeholder, maxLength: field.maxLength ?? undefined };
  if (field.kind === "text" && (field.maxLength ?? 0) > 300) return <AreaField {...around} {...texts} rows={3} />;
  return <TextField {...around} {...texts} inputMode={field.kind === "retries" ? "numeric" : undefined} />;
}

interface FieldTexts {
  label?: string;
  hint?: string;
  placeholder?: string;
  options?: readonly { value: string; label: string }[];
}

const PRIORITIES = Array.from({ length: 10 }, (_, level) => ({
  value: String(level),
  label: level === 0 ? "0 (highest)" : level === 5 ? "5 (default)" : level === 9 ? "9 (lowest)" : String(level),
}));
const OVERLAPS = [
  { value: "skip", label: "skip the new run" },
  { value: "queue_one", label: "queue one run" },
  { value: "queue_all", label: "queue every run" },
  { value: "cancel_running", label: "cancel the active run" },
  { value: "terminate_running", label: "terminate the active run" },
  { value: "allow", label: "run in parallel" },
];
const PAUSES = [
  { value: "skip", label: "skip the tick" },
  { value: "accumulate", label: "accumulate runs until the queue resumes" },
];
const GUARANTEES = [
  { value: "at_least_once", label: "at least once: run again if the worker is lost" },
  { value: "at_most_once", label: "at most once: never run again" },
  { value: "exactly_once", label: "exactly once: the handler commits its run" },
];
const FIELD_TEXTS: Record<string, FieldTexts> = {
  retries: { hint: "Attempts after the first one. Default: 3." },
  timeout: { label: "Attempt timeout", placeholder: "no limit", hint: "Limit of one attempt, for example 15m. Empty: no limit." },
  deadline: { label: "Run deadline", placeholder: "no limit", hint: "Limit of the whole run with all retries, from its due time. Empty: no limit." },
  guarantee: { options: GUARANTEES },
  target: { placeholder: "default for this kind", hint: "What attempts depend on. While it is unreachable, runs wait." },
  queue: { hint: "Workers that serve this queue run the job. Default: default." },
  priority: { options: PRIORITIES },
  overlap: { label: "If the previous run is active", options: OVERLAPS },
  when_queue_paused: { label: "If the queue is paused", options: PAUSES },
  user_id: { label: "User id", placeholder: "none", hint: "Owner of the job, for your own records." },
};
