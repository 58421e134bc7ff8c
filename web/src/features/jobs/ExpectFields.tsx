// The part of a job's form that says what is expected of its runs, and how a violation is reported.
import { CheckField, SelectField, TextField } from "../../ui/Fields.tsx";
import { ALERT_FIELDS, type ConditionField, EXPECT_FIELDS, type JsonObject, readDocument, withField, writeDocument } from "./expectFields.ts";

interface ExpectFieldsProps {
  /** JSON texts of the documents. */
  expect: string;
  alert: string;
  change: (changes: { expect?: string; alert?: string }) => void;
  errorOf: (field: string, ...pointers: string[]) => string | null;
}

const SEVERITIES = [
  { value: "", label: "warning (default)" },
  { value: "info", label: "info" },
  { value: "page", label: "page: may wake people" },
];

export function ExpectFields({ expect, alert, change, errorOf }: ExpectFieldsProps) {
  const expected = readDocument(expect);
  const report = readDocument(alert);
  const setExpected = (next: JsonObject) => change({ expect: writeDocument(next) });
  const setReport = (next: JsonObject) => change({ alert: writeDocument(next) });
  const severity = typeof report["severity"] === "string" ? report["severity"] : "";
  return (
    <div className="stack">
      <div className="grid-2">
        {EXPECT_FIELDS.map((field) => (
          <Condition key={field.name} field={field} document={expected} change={setExpected} error={errorOf(`expect.${field.name}`, `/expect/${field.name}`)} />
        ))}
      </div>
      <CheckField
        label="Warn before it finishes late, from its own history"
        checked={Boolean(expected["at_risk"])}
        change={(isOn) => setExpected({ ...expected, at_risk: isOn ? true : undefined })}
      />
      <div className="grid-2">
        {ALERT_FIELDS.map((field) => (
          <Condition key={field.name} field={field} document={report} change={setReport} error={errorOf(`alert.${field.name}`, `/alert/${field.name}`)} />
        ))}
        <SelectField label="Severity" value={severity === "warning" ? "" : severity} change={(value) => setReport({ ...report, severity: value || undefined })} options={SEVERITIES} />
      </div>
    </div>
  );
}

function Condition({ field, document, change, error }: { field: ConditionField; document: JsonObject; change: (document: JsonObject) => void; error: string | null }) {
  return <TextField label={field.label} hint={field.hint} error={error} value={field.read(document[field.name])} change={(text) => change(withField(document, field, text))} />;
}
