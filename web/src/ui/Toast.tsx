// A sentence in the corner about what was just done; it goes by itself.
import { useSyncExternalStore } from "react";
import { IconButton } from "./Button.tsx";
import { Icon } from "./Icon.tsx";

interface Told {
  id: number;
  text: string;
  tone: "good" | "bad";
}

const SHOWN = 6_000;
let told: readonly Told[] = [];
let next = 1;
const watchers = new Set<() => void>();

function become(list: readonly Told[]): void {
  told = list;
  for (const each of watchers) each();
}

function drop(id: number): void {
  become(told.filter((each) => each.id !== id));
}

export function toast(text: string, tone: Told["tone"] = "good"): void {
  const id = next++;
  become([...told.slice(-3), { id, text, tone }]);
  setTimeout(() => drop(id), SHOWN);
}

export function Toasts() {
  const list = useSyncExternalStore(
    (watcher) => {
      watchers.add(watcher);
      return () => watchers.delete(watcher);
    },
    () => told,
  );
  return (
    <div className="toasts" role="status" aria-live="polite">
      {list.map((each) => (
        <div key={each.id} className={`toast tone-${each.tone}`}>
          <Icon sign={each.tone === "good" ? "check" : "alert"} />
          <span className="grow wrap">{each.text}</span>
          <IconButton sign="cross" name="Dismiss" onClick={() => drop(each.id)} />
        </div>
      ))}
    </div>
  );
}
