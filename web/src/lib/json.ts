// JSON that people type. Pure.

export type Read = { value: unknown; error: null } | { value: undefined; error: string };

/** What a text means, or a sentence about what is wrong with it and where. */
export function read(text: string): Read {
  try {
    return { value: JSON.parse(text) as unknown, error: null };
  } catch (caught) {
    return { value: undefined, error: sentence(text, caught as Error) };
  }
}

function sentence(text: string, error: Error): string {
  if (text.trim() === "") return "Nothing is written here; write null for no value.";
  const at = /position (\d+)/.exec(error.message);
  const what = error.message
    .replace(/ in JSON at position.*$/, "")
    .replace(/,? ?"[^]*$/, "")
    .trim();
  if (!at) return `This is no JSON: ${what || "it ends too early"}.`;
  const before = text.slice(0, Number(at[1])).split("\n");
  return `This is no JSON: ${what} in line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1}.`;
}

export function written(value: unknown): string {
  return JSON.stringify(value ?? null, null, 2);
}

/** One line of it, cut at a length. */
export function glimpse(value: unknown, most = 80): string {
  const text = JSON.stringify(value ?? null);
  return text.length > most ? `${text.slice(0, most - 1)}…` : text;
}
