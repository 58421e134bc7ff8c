// Turns texts and names of the API into sentences and labels. Pure.

/** Capitalises a text and ends it with a full stop. */
export function toSentence(text: string): string {
  const first = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?…]$/.test(first) ? first : `${first}.`;
}

/** How a run came about. A run that a schedule's tick created is shown as "schedule". */
export function triggerLabel(trigger: string): string {
  return trigger === "tick" ? "schedule" : trigger.replaceAll("_", " ");
}

/** The name of a field as a label: `user_id` becomes `User id`. */
export function fieldLabel(name: string): string {
  return (name.charAt(0).toUpperCase() + name.slice(1)).replaceAll("_", " ");
}

/** Splits a text of the API at its `code` parts. */
export function splitCode(text: string): { text: string; isCode: boolean }[] {
  return text
    .split("`")
    .map((part, place) => ({ text: part, isCode: place % 2 === 1 }))
    .filter((part) => part.text !== "");
}
