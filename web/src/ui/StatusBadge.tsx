// Shows a status as an icon, a word and a colour.
import { statusLook } from "../lib/states.ts";
import { Icon } from "./Icon.tsx";

export function StatusBadge({ status, bare = false }: { status: string; bare?: boolean }) {
  const { tone, icon, word } = statusLook(status);
  return (
    <span className={`badge tone-${tone} ${bare ? "badge-bare" : ""}`}>
      <Icon icon={icon} />
      {word}
    </span>
  );
}
