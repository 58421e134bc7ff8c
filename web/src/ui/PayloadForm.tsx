// A payload to fill in: fields made from the schema of its kind, or JSON if there is none, or if
// somebody prefers it.
//
//   const payload = usePayload(schema, job.payload);
//   <PayloadForm payload={payload} />   …   payload.error ?? payload.value
import { useMemo, useState } from "react";
import { read, written } from "../lib/json.ts";
import { type FormField, type Schema, fieldsOf, lacking, meaning, textOf, withField } from "../lib/schema.ts";
import { CheckField, JsonField, SelectField, TextField, AreaField, Segments } from "./Fields.tsx";

export interface Payload {
  fields: FormField[] | null;
  as: "form" | "json";
  text: string;
  /** What it is now; undefined while it is wrong. */
  value: unknown;
  /** Why it cannot be sent as it is. */
  error: string | null;
  setAs: (as: "form" | "json") => void;
  setText: (text: string) => void;
}

export function usePayload(schema: Schema | null, given: unknown): Payload {
  const fields = useMemo(() => fieldsOf(schema), [schema]);
  const [text, setText] = useState(() => written(given));
  const [wanted, setAs] = useState<"form" | "json">("form");
  const found = useMemo(() => read(text), [text]);
  const isObject = found.error === null && (found.value === null || (typeof found.value === "object" && !Array.isArray(found.value)));
  // Fields that the schema does not know can only be seen as JSON.
  const known = new Set(fields?.map((field) => field.name));
  const isFit = isObject && Object.keys((found.value ?? {}) as object).every((name) => known.has(name));
  const as = fields && isFit ? wanted : "json";
  const missing = fields && isObject ? lacking(fields, (found.value ?? {}) as Record<string, unknown>) : [];
  const error = found.error ?? (missing.length > 0 ? `The payload needs ${missing.join(", ")}.` : null);
  return { fields: isFit ? fields : null, as, text, value: found.value, error, setAs, setText };
}

export function PayloadForm({ payload, label = "Payload", hint }: { payload: Payload; label?: string; hint?: string }) {
  const { fields, as } = payload;
  // Where somebody has begun to type they go on, also when fields become known meanwhile.
  const type = (text: string) => {
    payload.setAs("json");
    payload.setText(text);
  };
  return (
    <div className="stack">
      {fields && (
        <div className="row row-apart">
          <span className="field-label">{label}</span>
          <Segments
            name="How to write it"
            value={as}
            options={[
              { value: "form", label: "Form" },
              { value: "json", label: "JSON" },
            ]}
            change={payload.setAs}
          />
        </div>
      )}
      {fields && as === "form" ? (
        <Form fields={fields} payload={payload} />
      ) : (
        <JsonField label={fields ? `${label} as JSON` : label} hint={hint} text={payload.text} change={type} />
      )}
    </div>
  );
}

function Form({ fields, payload }: { fields: FormField[]; payload: Payload }) {
  const value = (payload.value ?? {}) as Record<string, unknown>;
  if (fields.length === 0) return <p className="soft">This kind takes no payload.</p>;
  return fields.map((field) => (
    <One key={field.name} field={field} value={value[field.name]} change={(next) => payload.setText(written(withField(value, field.name, next)))} />
  ));
}

function One({ field, value, change }: { field: FormField; value: unknown; change: (value: unknown) => void }) {
  // What is typed is kept as it is while it means nothing yet.
  const [draft, setDraft] = useState<string | null>(null);
  const text = draft ?? textOf(field, value);
  const { error } = meaning(field, text);
  const tell = (next: string) => {
    const found = meaning(field, next);
    setDraft(found.error ? next : field.kind === "json" || field.kind === "number" ? next : null);
    if (!found.error) change(found.value);
  };
  const label = field.isRequired ? field.title : `${field.title} (optional)`;
  const shape = { label, error, hint: field.hint };
  const usual = field.fallback === undefined || field.fallback === null ? "" : `Default: ${textOf(field, field.fallback)}`;
  switch (field.kind) {
    case "yes":
      return <CheckField label={field.hint ? `${field.title}: ${field.hint}` : field.title} checked={(value ?? field.fallback) === true} change={(on) => change(on)} />;
    case "choice":
      return <SelectField {...shape} value={text} options={[...(field.isRequired && text ? [] : [{ value: "", label: usual || "–" }]), ...field.options]} change={tell} />;
    case "json":
      return <AreaField {...shape} value={text} change={tell} rows={2} mono placeholder={usual} />;
    case "long":
      return <AreaField {...shape} value={text} change={tell} rows={4} placeholder={usual} />;
    default:
      return <TextField {...shape} value={text} change={tell} placeholder={usual} inputMode={field.kind === "text" ? "text" : "decimal"} />;
  }
}
