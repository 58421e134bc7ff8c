// Edits a payload: as form fields built from the schema of its kind, or as JSON if the kind has no
// schema or the user prefers it.
//
//   const payload = usePayload(schema, job.payload);
//   <PayloadForm payload={payload} />   …   payload.error ?? payload.value
import { useMemo, useState } from "react";
import { parseJson, formatJson } from "../lib/json.ts";
import { type FormField, type Schema, fieldsOf, missingFields, parseField, fieldText, withField } from "../lib/schema.ts";
import { CheckField, JsonField, SelectField, TextField, AreaField, Segments } from "./Fields.tsx";

export interface Payload {
  fields: FormField[] | null;
  as: "form" | "json";
  text: string;
  /** The current value; undefined while the text is invalid. */
  value: unknown;
  /** Why the payload cannot be sent. */
  error: string | null;
  setAs: (as: "form" | "json") => void;
  setText: (text: string) => void;
}

export function usePayload(schema: Schema | null, given: unknown): Payload {
  const fields = useMemo(() => fieldsOf(schema), [schema]);
  const [text, setText] = useState(() => formatJson(given));
  const [wanted, setAs] = useState<"form" | "json">("form");
  const found = useMemo(() => parseJson(text), [text]);
  const isObject = found.error === null && (found.value === null || (typeof found.value === "object" && !Array.isArray(found.value)));
  // Fields that the schema does not have can only be shown as JSON.
  const known = new Set(fields?.map((field) => field.name));
  const isFit = isObject && Object.keys((found.value ?? {}) as object).every((name) => known.has(name));
  const as = fields && isFit ? wanted : "json";
  const missing = fields && isObject ? missingFields(fields, (found.value ?? {}) as Record<string, unknown>) : [];
  const error = found.error ?? (missing.length > 0 ? `Missing payload fields: ${missing.join(", ")}.` : null);
  return { fields: isFit ? fields : null, as, text, value: found.value, error, setAs, setText };
}

export function PayloadForm({ payload, label = "Payload", hint }: { payload: Payload; label?: string; hint?: string }) {
  const { fields, as } = payload;
  // A user who types JSON keeps typing JSON, even if the schema is loaded meanwhile.
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
            name="Input mode"
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
        <PayloadFields fields={fields} payload={payload} />
      ) : (
        <JsonField label={fields ? `${label} (JSON)` : label} hint={hint} text={payload.text} change={type} />
      )}
    </div>
  );
}

function PayloadFields({ fields, payload }: { fields: FormField[]; payload: Payload }) {
  const value = (payload.value ?? {}) as Record<string, unknown>;
  if (fields.length === 0) return <p className="soft">This kind takes no payload.</p>;
  return fields.map((field) => (
    <PayloadField key={field.name} field={field} value={value[field.name]} change={(next) => payload.setText(formatJson(withField(value, field.name, next)))} />
  ));
}

function PayloadField({ field, value, change }: { field: FormField; value: unknown; change: (value: unknown) => void }) {
  // Keeps the typed text while it is not valid yet.
  const [draft, setDraft] = useState<string | null>(null);
  const text = draft ?? fieldText(field, value);
  const { error } = parseField(field, text);
  const update = (next: string) => {
    const found = parseField(field, next);
    setDraft(found.error ? next : field.kind === "json" || field.kind === "number" ? next : null);
    if (!found.error) change(found.value);
  };
  const label = field.isRequired ? field.title : `${field.title} (optional)`;
  const shape = { label, error, hint: field.hint };
  const defaultText = field.fallback === undefined || field.fallback === null ? "" : `Default: ${fieldText(field, field.fallback)}`;
  switch (field.kind) {
    case "yes":
      return <CheckField label={field.hint ? `${field.title}: ${field.hint}` : field.title} checked={(value ?? field.fallback) === true} change={(on) => change(on)} />;
    case "choice":
      return <SelectField {...shape} value={text} options={[...(field.isRequired && text ? [] : [{ value: "", label: defaultText || "–" }]), ...field.options]} change={update} />;
    case "json":
      return <AreaField {...shape} value={text} change={update} rows={2} mono placeholder={defaultText} />;
    case "long":
      return <AreaField {...shape} value={text} change={update} rows={4} placeholder={defaultText} />;
    default:
      return <TextField {...shape} value={text} change={update} placeholder={defaultText} inputMode={field.kind === "text" ? "text" : "decimal"} />;
  }
}
