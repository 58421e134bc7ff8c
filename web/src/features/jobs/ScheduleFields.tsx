// The schedule of a job: one rule and its options.
import { useId } from "react";
import { useApiQuery } from "../../api/queries.ts";
import { Button } from "../../ui/Button.tsx";
import { AreaField, CheckField, JsonField, SelectField, TextField } from "../../ui/Fields.tsx";
import { ZONE } from "../../ui/Time.tsx";
import type { Mode, ScheduleForm } from "./schedules.ts";

const MODE_OPTIONS: readonly { value: Mode; label: string }[] = [
  { value: "cron", label: "Cron expression" },
  { value: "every", label: "Interval" },
  { value: "fixed_delay", label: "Fixed delay after each run" },
  { value: "at", label: "Once, at a set time" },
  { value: "rrule", label: "Recurrence rule (RRULE)" },
  { value: "event", label: "On an event" },
  { value: "on_demand", label: "On demand only" },
  { value: "immediate", label: "Once, immediately" },
  { value: "json", label: "JSON (all options)" },
];

const EXAMPLES: readonly (readonly [string, string])[] = [
  ["every 5 minutes", "*/5 * * * *"],
  ["hourly", "0 * * * *"],
  ["daily at 2:30", "30 2 * * *"],
  ["weekdays at 9", "0 9 * * mon-fri"],
  ["monthly", "0 6 1 * *"],
];

interface ScheduleFieldsProps {
  form: ScheduleForm;
  change: (form: ScheduleForm) => void;
  error: string | null;
  /** Only a new job can run immediately. */
  isNew: boolean;
}

export function ScheduleFields({ form, change, error, isNew }: ScheduleFieldsProps) {
  const set = (changes: Partial<ScheduleForm>) => change({ ...form, ...changes });
  const type = (text: string) => set({ texts: { ...form.texts, [form.mode]: text } });
  const text = form.texts[form.mode];
  const hasOptions = !["event", "on_demand", "immediate", "json"].includes(form.mode);
  return (
    <div className="stack">
      <SelectField label="Schedule type" value={form.mode} change={(mode) => set({ mode: mode as Mode })} options={MODE_OPTIONS.filter((each) => isNew || each.value !== "immediate" || form.mode === "immediate")} />
      <Rule mode={form.mode} text={text} type={type} error={error} />
      {hasOptions && form.mode !== "at" && <ZoneField value={form.timezone} change={(timezone) => set({ timezone })} />}
      {hasOptions && <Options form={form} set={set} />}
    </div>
  );
}

function Rule({ mode, text, type, error }: { mode: Mode; text: string; type: (text: string) => void; error: string | null }) {
  switch (mode) {
    case "cron":
      return (
        <div className="stack stack-tight">
          <TextField label="Cron expression" mono value={text} change={type} error={error} hint="Minute, hour, day of the month, month, day of the week. H spreads load: H 2 * * *." />
          <div className="row" role="group" aria-label="Examples">
            {EXAMPLES.map(([name, cron]) => (
              <Button key={cron} small look="quiet" onClick={() => type(cron)}>
                {name}
              </Button>
            ))}
          </div>
        </div>
      );
    case "every":
      return <TextField label="Interval" mono value={text} change={type} error={error} hint="From start to start, for example 90s, 15m, 1h30m or 2d." />;
    case "fixed_delay":
      return <TextField label="Delay" mono value={text} change={type} error={error} hint="Time between the end of a run and the start of the next, for example 15m." />;
    case "at":
      return <TextField label="Time" type="datetime-local" value={text} change={type} error={error} hint={`In ${ZONE}.`} />;
    case "rrule":
      return <AreaField label="Recurrence rule" mono rows={3} value={text} change={type} error={error} hint="One RFC 5545 RRULE, optionally with DTSTART, RDATE and EXDATE lines." />;
    case "event":
      return <TextField label="Event type" value={text} change={type} error={error} hint="For example orders.created." />;
    case "json":
      return <JsonField label="Schedule" text={text} change={type} error={error} rows={12} hint="All fields: docs/reference/schedules.md." />;
    default:
      return null;
  }
}

function ZoneField({ value, change }: { value: string; change: (zone: string) => void }) {
  const list = useId();
  return (
    <>
      <TextField label="Time zone" value={value} change={change} list={list} hint="Time zone of the schedule." />
      <datalist id={list}>
        {zones().map((zone) => (
          <option key={zone} value={zone} />
        ))}
      </datalist>
    </>
  );
}

function zones(): string[] {
  return ["UTC", ...(typeof Intl.supportedValuesOf === "function" ? Intl.supportedValuesOf("timeZone") : [])];
}

function Options({ form, set }: { form: ScheduleForm; set: (changes: Partial<ScheduleForm>) => void }) {
  const calendars = useApiQuery("GET /v1/calendars", { query: { limit: 100 } }, { staleTime: 60_000 });
  const names = [...new Set([...(calendars.data?.data.map((each) => each.name) ?? []), ...form.calendars])];
  const toggle = (name: string, isOn: boolean) => set({ calendars: isOn ? [...form.calendars, name] : form.calendars.filter((each) => each !== name) });
  return (
    <details className="options">
      <summary>Daylight saving, calendars, missed ticks, jitter, validity</summary>
      <div className="stack">
        <div className="grid-2">
          <SelectField label="Local time skipped by daylight saving" value={form.gap} change={(gap) => set({ gap })} options={[{ value: "run_after", label: "run right after the change" }, { value: "skip", label: "skip" }, { value: "shift", label: "run later by the length of the change" }]} />
          <SelectField label="Local time repeated by daylight saving" value={form.overlap} change={(overlap) => set({ overlap })} options={[{ value: "first", label: "run the first time" }, { value: "second", label: "run the second time" }, { value: "both", label: "run both times" }]} />
          <SelectField label="Ticks missed during an outage" value={form.onOutage} change={(onOutage) => set({ onOutage })} options={MISSED} />
          <SelectField label="Ticks missed while paused" value={form.onResume} change={(onResume) => set({ onResume })} options={MISSED} />
          <TextField label="Jitter" value={form.jitter} change={(jitter) => set({ jitter })} placeholder="none" hint="Random delay of up to this long, for example 5m." />
          {names.length > 0 && <SelectField label="Ticks inside a blackout" value={form.onBlackout} change={(onBlackout) => set({ onBlackout })} options={[{ value: "skip", label: "skip" }, { value: "defer", label: "run when the blackout ends" }, { value: "advance", label: "run before the blackout starts" }]} />}
          <TextField label="Valid from" type="datetime-local" value={form.start} change={(start) => set({ start })} />
          <TextField label="Valid until" type="datetime-local" value={form.end} change={(end) => set({ end })} />
        </div>
        {names.length > 0 && (
          <fieldset className="stack stack-tight">
            <legend className="field-label">Blackout calendars</legend>
            {names.map((name) => (
              <CheckField key={name} label={name} checked={form.calendars.includes(name)} change={(isOn) => toggle(name, isOn)} />
            ))}
          </fieldset>
        )}
      </div>
    </details>
  );
}

const MISSED = [
  { value: "skip", label: "skip all" },
  { value: "once", label: "run once for all" },
  { value: "all", label: "run each" },
];
