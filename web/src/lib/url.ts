// The URL is the state of every list: reading and changing its query. Pure.

/** A query with some values changed; null, empty and undefined take one away. */
export function changed(
  params: URLSearchParams,
  changes: Record<string, string | string[] | null | undefined>,
): URLSearchParams {
  const next = new URLSearchParams(params);
  for (const [name, value] of Object.entries(changes)) {
    next.delete(name);
    for (const each of Array.isArray(value) ? value : [value]) {
      if (each !== null && each !== undefined && each !== "") next.append(name, each);
    }
  }
  return next;
}

/** A path with its query, or without one that is empty. */
export function link(path: string, query: Record<string, string | string[] | null | undefined> = {}): string {
  const text = changed(new URLSearchParams(), query).toString();
  return text ? `${path}?${text}` : path;
}

/** One of several words, or the first if the URL says something else. */
export function oneOf<const T extends readonly [string, ...string[]]>(value: string | null, words: T): T[number] {
  return (words as readonly string[]).includes(value ?? "") ? (value as T[number]) : words[0];
}

/** Where a path of the API with {places} leads. */
export function filled(path: string, values: Record<string, string>): string {
  return path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(values[name] ?? ""));
}

/** Where the page of a task is. */
export function taskPath(kind: string): string {
  return `/tasks/${encodeURIComponent(kind)}`;
}

/** The kind in such a path, which the router has decoded but for what separates paths. */
export function kindIn(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
