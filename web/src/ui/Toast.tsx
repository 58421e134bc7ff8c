// Short messages in the corner about completed actions; they disappear after a few seconds.
import { useSyncExternalStore } from "react";
import { IconButton } from "./Button.tsx";
import { Icon } from "./Icon.tsx";

interface ToastMessage {
  id: number;
  text: string;
  tone: "good" | "bad";
}

const SHOWN_MS = 6_000;
let messages: readonly ToastMessage[] = [];
let nextId = 1;
const watchers = new Set<() => void>();

function setMessages(list: readonly ToastMessage[]): void {
  messages = list;
  for (const notify of watchers) notify();
}

function dismiss(id: number): void {
  setMessages(messages.filter((each) => each.id !== id));
}

export function toast(text: string, tone: ToastMessage["tone"] = "good"): void {
  const id = nextId++;
  setMessages([...messages.slice(-3), { id, text, tone }]);
  setTimeout(() => dismiss(id), SHOWN_MS);
}

export function Toasts() {
  const list = useSyncExternalStore(
    (watcher) => {
      watchers.add(watcher);
      return () => watchers.delete(watcher);
    },
    () => messages,
  );
  return (
    <div className="toasts" role="status" aria-live="polite">
      {list.map((each) => (
        <div key={each.id} className={`toast tone-${each.tone}`}>
          <Icon icon={each.tone === "good" ? "check" : "alert"} />
          <span className="grow wrap">{each.text}</span>
          <IconButton icon="cross" name="Dismiss" onClick={() => dismiss(each.id)} />
        </div>
      ))}
    </div>
  );
}
