// Keyboard shortcuts, and the dialog that lists them.
import { useEffect, useRef } from "react";
import { useLocation } from "wouter";
import { may } from "../api/session.ts";
import { Dialog } from "../ui/Dialog.tsx";
import { nextTheme } from "./theme.ts";
import { ROUTES } from "./routes.ts";

/** The longest pause between "g" and the letter of a page, in milliseconds. */
const LEADER_TIMEOUT_MS = 1_200;

export function useShortcuts(handlers: { palette: () => void; help: () => void }): void {
  const [, navigate] = useLocation();
  const latest = useRef(handlers);
  latest.current = handlers;
  useEffect(() => {
    let leader = 0;
    const listen = (event: KeyboardEvent) => {
      if ((event.metaKey || event.ctrlKey) && event.key.toLowerCase() === "k") {
        event.preventDefault();
        latest.current.palette();
        return;
      }
      const target = event.target as HTMLElement;
      if (event.metaKey || event.ctrlKey || event.altKey || target.closest("input, textarea, select, dialog[open]")) return;
      const page = ROUTES.find((route) => route.nav?.key === event.key && (!route.needs || may(route.needs)));
      if (Date.now() - leader < LEADER_TIMEOUT_MS && page) {
        leader = 0;
        event.preventDefault();
        navigate(page.path);
        return;
      }
      leader = event.key === "g" ? Date.now() : 0;
      if (event.key === "?") latest.current.help();
      else if (event.key === "T") nextTheme();
      else if (event.key === "n" && may("POST /v1/jobs")) navigate("/jobs/new");
      else if (event.key === "/") {
        const search = document.querySelector<HTMLElement>("[data-search]");
        if (search) search.focus();
        else latest.current.palette();
      } else return;
      event.preventDefault();
    };
    document.addEventListener("keydown", listen);
    return () => document.removeEventListener("keydown", listen);
  }, [navigate]);
}

const KEYS: readonly (readonly [string[], string])[] = [
  [["Ctrl", "K"], "Search jobs, runs and pages"],
  [["/"], "Search this list"],
  [["j"], "Next row"],
  [["k"], "Previous row"],
  [["Enter"], "Open row"],
  [["n"], "Create job"],
  [["T"], "Change theme"],
  [["?"], "Keyboard shortcuts"],
  [["Esc"], "Close"],
];

export function ShortcutsDialog({ close }: { close: () => void }) {
  const pages = ROUTES.filter((route) => route.nav && (!route.needs || may(route.needs)));
  return (
    <Dialog title="Keyboard shortcuts" close={close} wide>
      <div className="grid-2">
        <Keys title="General" keys={KEYS} />
        <Keys title="Pages" keys={pages.map((page) => [["g", page.nav?.key ?? ""], page.title] as const)} />
      </div>
    </Dialog>
  );
}

function Keys({ title, keys }: { title: string; keys: readonly (readonly [string[], string])[] }) {
  return (
    <div className="stack stack-tight">
      <h3>{title}</h3>
      <dl className="keys">
        {keys.map(([combination, does]) => (
          <div key={does}>
            <dt>
              {combination.map((key) => (
                <kbd key={key} className="kbd">
                  {key}
                </kbd>
              ))}
            </dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
    </div>
  );
}
