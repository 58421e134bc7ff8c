// A state as a sign, a word and a colour.
import { look } from "../lib/states.ts";
import { Icon } from "./Icon.tsx";

export function StateBadge({ state, bare = false }: { state: string; bare?: boolean }) {
  const { tone, sign, word } = look(state);
  return (
    <span className={`badge tone-${tone} ${bare ? "badge-bare" : ""}`}>
      <Icon sign={sign} />
      {word}
    </span>
  );
}
