// Reads and changes the URL's query, which holds the state of every list. Pure.

/** Returns a query with some values changed; null, empty and undefined remove a value. */
export function withQuery(
  params: URLSearchParams,
  changes: Record<string, string | string[] | null | undefined>,
): URLSearchParams {
  const next = new URLSearchParams(params);
  for (const [name, value] of Object.entries(changes)) {
    next.delete(name);
    for (const item of Array.isArray(value) ? value : [value]) {
      if (item !== null && item !== undefined && item !== "") next.append(name, item);
    }
  }
  return next;
}

/** A path with a query; an empty query is left out. */
export function linkTo(path: string, query: Record<string, string | string[] | null | undefined> = {}): string {
  const text = withQuery(new URLSearchParams(), query).toString();
  return text ? `${path}?${text}` : path;
}

/** Returns the value if it is one of the words, else the first word. */
export function oneOf<const T extends readonly [string, ...string[]]>(value: string | null, words: T): T[number] {
  return (words as readonly string[]).includes(value ?? "") ? (value as T[number]) : words[0];
}

/** Fills the {placeholders} of an API path. */
export function fillPath(path: string, values: Record<string, string>): string {
  return path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(values[name] ?? ""));
}

/** The path of a task's page. */
export function taskPath(kind: string): string {
  return `/tasks/${encodeURIComponent(kind)}`;
}

/** The kind in such a path; the router decodes everything except separators. */
export function kindFromPath(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
