// Light, dark, or as the system says.
import { useSyncExternalStore } from "react";

export type Theme = "system" | "light" | "dark";
const KEY = "rota.theme";
const watchers = new Set<() => void>();

function stored(): Theme {
  try {
    const found = localStorage.getItem(KEY);
    return found === "light" || found === "dark" ? found : "system";
  } catch {
    return "system";
  }
}

let theme = stored();

export function applyTheme(): void {
  if (theme === "system") delete document.documentElement.dataset["theme"];
  else document.documentElement.dataset["theme"] = theme;
}

export function setTheme(next: Theme): void {
  theme = next;
  try {
    localStorage.setItem(KEY, next);
  } catch {
    // A browser that keeps nothing: it lasts until the page is closed.
  }
  applyTheme();
  for (const each of watchers) each();
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
