// Form fields. Each has an associated label and error, so that screen readers read them together.
import { type ChangeEvent, type ComponentProps, type ReactNode, useEffect, useId, useState } from "react";
import { parseJson } from "../lib/json.ts";
import { Icon } from "./Icon.tsx";

interface FieldProps {
  label: string;
  hint?: ReactNode;
  error?: string | null | undefined;
}

function Field({ id, label, hint, error, children }: FieldProps & { id: string; children: ReactNode }) {
  return (
    <div className="field">
      <label className="field-label" htmlFor={id}>
        {label}
      </label>
      {children}
      {error ? (
        <p className="field-error" id={`${id}-error`}>
          {error}
        </p>
      ) : (
        hint && (
          <p className="field-hint" id={`${id}-hint`}>
            {hint}
          </p>
        )
      )}
    </div>
  );
}

function describedBy(id: string, { hint, error }: Pick<FieldProps, "hint" | "error">): ComponentProps<"input"> {
  const by = error ? `${id}-error` : hint ? `${id}-hint` : undefined;
  return { id, "aria-invalid": error ? true : undefined, "aria-describedby": by };
}

type Change = (value: string) => void;
const onInput = (change: Change) => (event: ChangeEvent<HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement>) => change(event.target.value);

export function TextField({ label, hint, error, change, mono, ...rest }: FieldProps & { change: Change; mono?: boolean } & Omit<ComponentProps<"input">, "onChange">) {
  const id = useId();
  return (
    <Field id={id} label={label} hint={hint} error={error}>
      <input {...rest} {...describedBy(id, { hint, error })} className={`input ${mono ? "mono" : ""}`} onChange={onInput(change)} autoComplete={rest.autoComplete ?? "off"} spellCheck={false} />
    </Field>
  );
}

export function AreaField({ label, hint, error, change, mono, ...rest }: FieldProps & { change: Change; mono?: boolean } & Omit<ComponentProps<"textarea">, "onChange">) {
  const id = useId();
  const { "aria-invalid": isInvalid, "aria-describedby": by } = describedBy(id, { hint, error });
  return (
    <Field id={id} label={label} hint={hint} error={error}>
      <textarea rows={6} {...rest} id={id} aria-invalid={isInvalid} aria-describedby={by} className={`input ${mono ? "mono" : ""}`} onChange={onInput(change)} spellCheck={false} />
    </Field>
  );
}

export type Option = string | { value: string; label: string };

export function SelectField({ label, hint, error, change, options, ...rest }: FieldProps & { change: Change; options: readonly Option[] } & Omit<ComponentProps<"select">, "onChange">) {
  const id = useId();
  const { "aria-invalid": isInvalid, "aria-describedby": by } = describedBy(id, { hint, error });
  return (
    <Field id={id} label={label} hint={hint} error={error}>
      <select {...rest} id={id} aria-invalid={isInvalid} aria-describedby={by} className="input" onChange={onInput(change)}>
        <Options options={options} />
      </select>
    </Field>
  );
}

function Options({ options }: { options: readonly Option[] }) {
  return options.map((given) => {
    const option = typeof given === "string" ? { value: given, label: given } : given;
    return (
      <option key={option.value} value={option.value}>
        {option.label}
      </option>
    );
  });
}

/** A small select without a visible label, for filters. */
export function Picker({ name, value: chosen, options, change }: { name: string; value: string; options: readonly Option[]; change: Change }) {
  return (
    <select className="input input-narrow" aria-label={name} value={chosen} onChange={onInput(change)}>
      <Options options={options} />
    </select>
  );
}

export function CheckField({ label, checked, change, disabled }: { label: ReactNode; checked: boolean; change: (checked: boolean) => void; disabled?: boolean }) {
  return (
    <label className="check">
      <input type="checkbox" checked={checked} disabled={disabled} onChange={(event) => change(event.target.checked)} />
      <span>{label}</span>
    </label>
  );
}

/** Radio buttons, each with an optional hint. */
export function ChoiceField({ label, value: chosen, options, change }: { label: string; value: string; options: readonly { value: string; label: string; hint?: string }[]; change: Change }) {
  const name = useId();
  return (
    <fieldset className="stack stack-tight">
      <legend className="field-label">{label}</legend>
      {options.map((option) => (
        <label key={option.value} className="choice">
          <input type="radio" name={name} value={option.value} checked={option.value === chosen} onChange={() => change(option.value)} />
          <span>
            {option.label}
            {option.hint && <span className="field-hint"> {option.hint}</span>}
          </span>
        </label>
      ))}
    </fieldset>
  );
}

/** A text area for JSON that validates while the user types. `change` gets the text. */
export function JsonField({ label, hint, text, change, error, rows }: FieldProps & { text: string; change: Change; rows?: number }) {
  const wrong = error ?? parseJson(text).error;
  return <AreaField label={label} hint={hint} error={wrong} value={text} change={change} rows={rows ?? Math.max(4, Math.min(16, text.split("\n").length + 1))} mono />;
}

/** A search field: searches after a short pause, or at once on Enter. "/" focuses it. */
export function SearchField({ name, value: given, change, placeholder }: { name: string; value: string; change: Change; placeholder?: string }) {
  const [text, setText] = useState(given);
  useEffect(() => setText(given), [given]);
  useEffect(() => {
    if (text === given) return;
    const timer = setTimeout(() => change(text.trim()), 250);
    return () => clearTimeout(timer);
  }, [text, given, change]);
  return (
    <div className="search grow">
      <Icon icon="search" />
      <input
        type="search"
        className="input"
        aria-label={name}
        placeholder={placeholder ?? name}
        value={text}
        data-search
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === "Enter") change(text.trim());
          if (event.key === "Escape") (event.target as HTMLInputElement).blur();
        }}
      />
    </div>
  );
}

/** A segmented control: exclusive options as buttons in a row. */
export function Segments<T extends string>({ name, value: chosen, options, change }: { name: string; value: T; options: readonly { value: T; label: string }[]; change: (value: T) => void }) {
  return (
    <div className="segments" role="group" aria-label={name}>
      {options.map((option) => (
        <button key={option.value} type="button" className="segment" aria-pressed={option.value === chosen} onClick={() => change(option.value)}>
          {option.label}
        </button>
      ))}
    </div>
  );
}
