// When a job runs: one rule and its options, with what it means beside it as one types.
import { useId } from "react";
import { useAsk } from "../../api/queries.ts";
import { Button } from "../../ui/Button.tsx";
import { AreaField, CheckField, JsonField, SelectField, TextField } from "../../ui/Fields.tsx";
import { ZONE } from "../../ui/Time.tsx";
import type { Mode, ScheduleForm } from "./schedules.ts";

const MODE_OPTIONS: readonly { value: Mode; label: string }[] = [
  { value: "cron", label: "By a cron expression" },
  { value: "every", label: "At an interval" },
  { value: "fixed_delay", label: "After its last run has ended" },
  { value: "at", label: "Once, at a time" },
  { value: "rrule", label: "By a recurrence rule" },
  { value: "event", label: "When an event arrives" },
  { value: "on_demand", label: "Only when somebody runs it" },
  { value: "immediate", label: "Once, at once" },
  { value: "json", label: "As JSON, with everything" },
];

const EXAMPLES: readonly (readonly [string, string])[] = [
  ["every 5 minutes", "*/5 * * * *"],
  ["hourly", "0 * * * *"],
  ["daily at 2:30", "30 2 * * *"],
  ["weekdays at 9", "0 9 * * mon-fri"],
  ["monthly", "0 6 1 * *"],
];

interface Given {
  form: ScheduleForm;
  change: (form: ScheduleForm) => void;
  error: string | null;
  /** A new job can run at once; one that is there cannot become one that did. */
  isNew: boolean;
}

export function ScheduleFields({ form, change, error, isNew }: Given) {
  const set = (changes: Partial<ScheduleForm>) => change({ ...form, ...changes });
  const type = (text: string) => set({ texts: { ...form.texts, [form.mode]: text } });
  const text = form.texts[form.mode];
  const hasOptions = !["event", "on_demand", "immediate", "json"].includes(form.mode);
  return (
    <div className="stack">
      <SelectField label="When it runs" value={form.mode} change={(mode) => set({ mode: mode as Mode })} options={MODE_OPTIONS.filter((each) => isNew || each.value !== "immediate" || form.mode === "immediate")} />
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
          <TextField label="Cron expression" mono value={text} change={type} error={error} hint="Minute, hour, day of the month, month, day of the week. H spreads: H 2 * * *." />
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
      return <TextField label="Interval" mono value={text} change={type} error={error} hint="Such as 90s, 15m, 1h30m or 2d; from start to start." />;
    case "fixed_delay":
      return <TextField label="Delay" mono value={text} change={type} error={error} hint="So long after the last run has ended, however it ended." />;
    case "at":
      return <TextField label="Time" type="datetime-local" value={text} change={type} error={error} hint={`In ${ZONE}.`} />;
    case "rrule":
      return <AreaField label="Recurrence rule" mono rows={3} value={text} change={type} error={error} hint="One RRULE of RFC 5545, with DTSTART, RDATE and EXDATE lines if need be." />;
    case "event":
      return <TextField label="Event" value={text} change={type} error={error} hint="Its name, such as orders.created." />;
    case "json":
      return <JsonField label="Schedule" text={text} change={type} error={error} rows={12} hint="docs/reference/schedules.md has every field." />;
    default:
      return null;
  }
}

function ZoneField({ value, change }: { value: string; change: (zone: string) => void }) {
  const list = useId();
  return (
    <>
      <TextField label="Time zone" value={value} change={change} list={list} hint="Whose clock it follows." />
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
  const calendars = useAsk("GET /v1/calendars", { query: { limit: 100 } }, { staleTime: 60_000 });
  const names = [...new Set([...(calendars.data?.data.map((each) => each.name) ?? []), ...form.calendars])];
  const toggle = (name: string, isOn: boolean) => set({ calendars: isOn ? [...form.calendars, name] : form.calendars.filter((each) => each !== name) });
  return (
    <details className="options">
      <summary>Daylight saving, calendars, missed ticks, jitter, validity</summary>
      <div className="stack">
        <div className="grid-2">
          <SelectField label="A time that the clock jumps over" value={form.gap} change={(gap) => set({ gap })} options={[{ value: "run_after", label: "runs right after the jump" }, { value: "skip", label: "does not run" }, { value: "shift", label: "runs as much later" }]} />
          <SelectField label="A time that comes twice" value={form.overlap} change={(overlap) => set({ overlap })} options={[{ value: "first", label: "runs the first time" }, { value: "second", label: "runs the second time" }, { value: "both", label: "runs both times" }]} />
          <SelectField label="Ticks missed in an outage" value={form.onOutage} change={(onOutage) => set({ onOutage })} options={MISSED} />
          <SelectField label="Ticks missed in a pause" value={form.onResume} change={(onResume) => set({ onResume })} options={MISSED} />
          <TextField label="Jitter" value={form.jitter} change={(jitter) => set({ jitter })} placeholder="none" hint="Each tick is late by chance up to this, such as 5m." />
          {names.length > 0 && <SelectField label="A tick inside a blackout" value={form.onBlackout} change={(onBlackout) => set({ onBlackout })} options={[{ value: "skip", label: "does not run" }, { value: "defer", label: "runs at its end" }, { value: "advance", label: "runs before it" }]} />}
          <TextField label="Not before" type="datetime-local" value={form.start} change={(start) => set({ start })} />
          <TextField label="Not after" type="datetime-local" value={form.end} change={(end) => set({ end })} />
        </div>
        {names.length > 0 && (
          <fieldset className="stack stack-tight">
            <legend className="field-label">Calendars in which nothing starts</legend>
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
  { value: "skip", label: "none runs" },
  { value: "once", label: "one runs for all" },
  { value: "all", label: "each runs" },
];
