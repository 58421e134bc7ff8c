// Words of the API as sentences. Pure.

/** With a capital at its beginning and a stop at its end. */
export function sentence(text: string): string {
  const first = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?…]$/.test(first) ? first : `${first}.`;
}

/** The name of a field as a label: `user_id` is `User id`. */
export function fieldLabel(name: string): string {
  return (name.charAt(0).toUpperCase() + name.slice(1)).replaceAll("_", " ");
}
