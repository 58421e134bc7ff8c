// The command palette: finds pages, actions, jobs by name, and jobs and runs by id.
import { type KeyboardEvent, useEffect, useId, useMemo, useRef, useState } from "react";
import { useLocation } from "wouter";
import { useApiQuery } from "../api/queries.ts";
import { may } from "../api/session.ts";
import { Icon, type IconName } from "../ui/Icon.tsx";
import { nextTheme } from "./theme.ts";
import { ROUTES } from "./routes.ts";

interface Entry {
  id: string;
  label: string;
  about: string;
  icon: IconName;
  act: () => void;
}

export function Palette({ close, help }: { close: () => void; help: () => void }) {
  const [text, setText] = useState("");
  const [chosen, setChosen] = useState(0);
  const dialog = useRef<HTMLDialogElement>(null);
  const list = useId();
  const entries = useEntries(text.trim(), help);
  const at = Math.min(chosen, Math.max(0, entries.length - 1));
  useEffect(() => {
    const element = dialog.current;
    if (element && !element.open) element.showModal();
    return () => element?.close();
  }, []);
  useEffect(() => {
    document.getElementById(`${list}-${at}`)?.scrollIntoView({ block: "nearest" });
  }, [list, at]);
  const act = (entry: Entry | undefined) => {
    if (!entry) return;
    close();
    entry.act();
  };
  const press = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined) {
      event.preventDefault();
      setChosen((at + step + entries.length) % Math.max(1, entries.length));
    } else if (event.key === "Enter") {
      event.preventDefault();
      act(entries[at]);
    }
  };
  return (
    <dialog
      ref={dialog}
      className="dialog palette"
      aria-label="Search jobs, runs and pages"
      onCancel={(event) => {
        event.preventDefault();
        close();
      }}
      onMouseDown={(event) => {
        if (event.target === dialog.current) close();
      }}
    >
      <input
        className="palette-input"
        role="combobox"
        aria-expanded="true"
        aria-controls={list}
        aria-activedescendant={entries.length > 0 ? `${list}-${at}` : undefined}
        aria-label="Search"
        placeholder="Page, action, job name or id"
        value={text}
        autoFocus
        autoComplete="off"
        spellCheck={false}
        onKeyDown={press}
        onChange={(event) => {
          setText(event.target.value);
          setChosen(0);
        }}
      />
      <ul id={list} role="listbox" aria-label="Results" className="palette-list">
        {entries.map((entry, index) => (
          <li
            key={entry.id}
            id={`${list}-${index}`}
            role="option"
            aria-selected={index === at}
            className="palette-item"
            onMouseMove={() => setChosen(index)}
            onMouseDown={(event) => {
              event.preventDefault();
              act(entry);
            }}
          >
            <Icon icon={entry.icon} />
            <span className="grow cut">{entry.label}</span>
            <span className="faint">{entry.about}</span>
          </li>
        ))}
      </ul>
      {entries.length === 0 && <p className="palette-none soft">No matches. Ids start with job_ or run_.</p>}
    </dialog>
  );
}

function useEntries(text: string, help: () => void): Entry[] {
  const [, navigate] = useLocation();
  const [query, setQuery] = useState("");
  useEffect(() => {
    const timer = setTimeout(() => setQuery(text), 150);
    return () => clearTimeout(timer);
  }, [text]);
  const isId = /^(job|run)_[0-9a-f]{32}$/.test(query);
  const jobs = useApiQuery("GET /v1/jobs", { query: { q: query, limit: 8 } }, { enabled: query.length > 0 && !isId, keepPrevious: true });
  const fixed = useMemo<Entry[]>(() => {
    const pages = ROUTES.filter((route) => route.nav && (!route.needs || may(route.needs)));
    return [
      ...pages.map((page) => ({
        id: page.path,
        label: page.title,
        about: "page",
        icon: page.nav?.icon ?? ("dot" as const),
        act: () => navigate(page.path),
      })),
      ...(may("POST /v1/jobs") ? [{ id: "new", label: "Create job", about: "action", icon: "plus" as const, act: () => navigate("/jobs/new") }] : []),
      { id: "theme", label: "Change theme", about: "action", icon: "moon", act: nextTheme },
      { id: "help", label: "Keyboard shortcuts", about: "action", icon: "list", act: help },
    ];
  }, [navigate, help]);
  const wanted = text.toLowerCase();
  const found = fixed.filter((entry) => entry.label.toLowerCase().includes(wanted));
  if (text === "") return found;
  if (isId) {
    const noun = query.slice(0, 3);
    return [{ id: query, label: query, about: noun, icon: noun === "job" ? "list" : "pulse", act: () => navigate(`/${noun}s/${query}`) }];
  }
  const named = (jobs.data?.data ?? []).map(
    (job): Entry => ({ id: job.job_id, label: job.name, about: `job · ${job.status}`, icon: "list", act: () => navigate(`/jobs/${job.job_id}`) }),
  );
  return [...found, ...named];
}
