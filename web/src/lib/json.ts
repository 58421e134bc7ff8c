// Parses and formats JSON that users type. Pure.

export type ParsedJson = { value: unknown; error: null } | { value: undefined; error: string };

/** Parses a text; the error is a sentence that says what is wrong and where. */
export function parseJson(text: string): ParsedJson {
  try {
    return { value: JSON.parse(text) as unknown, error: null };
  } catch (caught) {
    return { value: undefined, error: describeError(text, caught as Error) };
  }
}

function describeError(text: string, error: Error): string {
  if (text.trim() === "") return "Enter JSON, or null for no value.";
  const at = /position (\d+)/.exec(error.message);
  const what = error.message
    .replace(/ in JSON at position.*$/, "")
    .replace(/,? ?"[^]*$/, "")
    .trim();
  if (!at) return `Invalid JSON: ${what || "unexpected end"}.`;
  const before = text.slice(0, Number(at[1])).split("\n");
  return `Invalid JSON: ${what} at line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1}.`;
}

export function formatJson(value: unknown): string {
  return JSON.stringify(value ?? null, null, 2);
}

/** A value as one line of JSON, truncated to a length. */
export function previewJson(value: unknown, limit = 80): string {
  const text = JSON.stringify(value ?? null);
  return text.length > limit ? `${text.slice(0, limit - 1)}…` : text;
}
