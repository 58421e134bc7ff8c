// Turns the part of JSON Schema that payloads use into the fields of a form. Pure. A field that the
// form cannot show is edited as JSON.

export interface Schema {
  type?: string | string[];
  title?: string;
  description?: string;
  default?: unknown;
  enum?: unknown[];
  const?: unknown;
  anyOf?: Schema[];
  oneOf?: Schema[];
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  format?: string;
  minimum?: number;
  maximum?: number;
  $ref?: string;
  $defs?: Record<string, Schema>;
  "x-order"?: string[];
  [other: string]: unknown;
}

export type FieldKind = "text" | "long" | "number" | "integer" | "yes" | "choice" | "json";

export interface FormField {
  name: string;
  kind: FieldKind;
  title: string;
  hint: string;
  isRequired: boolean;
  /** The options of a choice, as text. The form adds an empty option for "not set". */
  options: string[];
  minimum?: number;
  maximum?: number;
  fallback: unknown;
}

/** The fields of an object, in order; null if the schema is not that of an object with known fields. */
export function fieldsOf(schema: Schema | null): FormField[] | null {
  if (!schema) return null;
  const whole = resolveReference(schema, schema);
  if (!whole.properties) return null;
  const names = Object.keys(whole.properties);
  const order = (whole["x-order"] ?? []).filter((name) => names.includes(name));
  const needed = new Set(whole.required ?? []);
  return [...order, ...names.filter((name) => !order.includes(name))].map((name) => {
    const own = withoutNull(resolveReference(whole.properties?.[name] ?? {}, schema), schema);
    const range = { ...(own.minimum === undefined ? {} : { minimum: own.minimum }), ...(own.maximum === undefined ? {} : { maximum: own.maximum }) };
    return {
      name,
      kind: kindOf(own),
      title: own.title ?? name,
      hint: own.description ?? "",
      isRequired: needed.has(name),
      options: optionsOf(own),
      fallback: own.default,
      ...range,
    };
  });
}

/** Follows references within the schema, a few steps deep. */
function resolveReference(schema: Schema, root: Schema, depth = 5): Schema {
  const name = /^#\/\$defs\/(.+)$/.exec(schema.$ref ?? "")?.[1];
  const found = name === undefined ? undefined : root.$defs?.[name];
  if (!found || depth === 0) return schema;
  const { $ref: _, ...rest } = schema;
  return { ...resolveReference(found, root, depth - 1), ...rest };
}

/** Removes "or null" from a schema: an empty field is not sent. */
function withoutNull(schema: Schema, root: Schema): Schema {
  const ways = (schema.anyOf ?? schema.oneOf)?.filter((way) => way.type !== "null");
  const [only] = ways ?? [];
  if (ways?.length === 1 && only) {
    const { anyOf: _, oneOf: __, ...rest } = schema;
    return { ...resolveReference(only, root), ...rest };
  }
  return schema;
}

function kindOf(schema: Schema): FieldKind {
  if (schema.enum) return "choice";
  const types = [schema.type ?? []].flat().filter((type) => type !== "null");
  if (types.length !== 1 || schema.anyOf || schema.oneOf) return "json";
  switch (types[0]) {
    case "string":
      return schema.format === "multiline" || schema["x-multiline"] ? "long" : "text";
    case "integer":
      return "integer";
    case "number":
      return "number";
    case "boolean":
      return "yes";
    default:
      return "json";
  }
}

function optionsOf(schema: Schema): string[] {
  return (schema.enum ?? []).filter((option) => option !== null).map(String);
}

/** Returns a payload with one field changed; `undefined` removes the field. */
export function withField(payload: Record<string, unknown>, name: string, value: unknown): Record<string, unknown> {
  const { [name]: _, ...rest } = payload;
  return value === undefined ? rest : { ...rest, [name]: value };
}

/** Parses the text of a field; the error is a sentence. */
export function parseField(field: FormField, text: string): { value: unknown; error: string | null } {
  if (text.trim() === "" && field.kind !== "text" && field.kind !== "long") return { value: undefined, error: null };
  switch (field.kind) {
    case "text":
    case "long":
      return { value: text === "" ? undefined : text, error: null };
    case "integer":
    case "number":
      return parseNumber(field, text);
    case "yes":
      return { value: text === "true", error: null };
    case "choice":
      return { value: text, error: null };
    case "json":
      try {
        return { value: JSON.parse(text) as unknown, error: null };
      } catch {
        return { value: undefined, error: 'Must be JSON, for example ["a", 1] or {"key": "value"}.' };
      }
  }
}

function parseNumber(field: FormField, text: string): { value: unknown; error: string | null } {
  const value = Number(text);
  const wanted = field.kind === "integer" ? "a whole number" : "a number";
  if (!Number.isFinite(value) || (field.kind === "integer" && !Number.isInteger(value))) return { value: undefined, error: `Must be ${wanted}.` };
  if (field.minimum !== undefined && value < field.minimum) return { value: undefined, error: `Must be at least ${field.minimum}.` };
  if (field.maximum !== undefined && value > field.maximum) return { value: undefined, error: `Must be at most ${field.maximum}.` };
  return { value, error: null };
}

/** A value as the text of its field. */
export function fieldText(field: FormField, value: unknown): string {
  if (value === undefined || value === null) return "";
  return field.kind === "json" ? JSON.stringify(value) : String(value);
}

/** Names of required fields that the payload lacks. */
export function missingFields(fields: readonly FormField[], payload: Record<string, unknown>): string[] {
  return fields.filter((field) => field.isRequired && payload[field.name] === undefined).map((field) => field.name);
}
