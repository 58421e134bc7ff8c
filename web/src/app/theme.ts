// The theme: light, dark, or the system's.
import { useSyncExternalStore } from "react";

export type Theme = "system" | "light" | "dark";
const KEY = "rota.theme";
const watchers = new Set<() => void>();

function readStoredTheme(): Theme {
  try {
    const found = localStorage.getItem(KEY);
    return found === "light" || found === "dark" ? found : "system";
  } catch {
    return "system";
  }
}

let theme = readStoredTheme();

export function applyTheme(): void {
  if (theme === "system") delete document.documentElement.dataset["theme"];
  else document.documentElement.dataset["theme"] = theme;
}

export function setTheme(next: Theme): void {
  theme = next;
  try {
    localStorage.setItem(KEY, next);
  } catch {
    // Without local storage the choice lasts until the page is closed.
  }
  applyTheme();
  for (const notify of watchers) notify();
}

export function useTheme(): Theme {
  return useSyncExternalStore(
    (watcher) => {
      watchers.add(watcher);
      return () => watchers.delete(watcher);
    },
    () => theme,
  );
}

const ORDER: readonly Theme[] = ["system", "light", "dark"];

export function nextTheme(): void {
  setTheme(ORDER[(ORDER.indexOf(theme) + 1) % ORDER.length] ?? "system");
}
