// Words of the API as sentences. Pure.

/** With a capital at its beginning and a stop at its end. */
export function sentence(text: string): string {
  const first = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?…]$/.test(first) ? first : `${first}.`;
}
