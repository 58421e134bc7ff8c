// Placeholders and notices: loading, empty, error, note.
import { type ReactNode, useEffect, useState } from "react";
import { toSentence } from "../lib/words.ts";
import { Button } from "./Button.tsx";
import { Icon, type IconName } from "./Icon.tsx";

const SLOW_AFTER_MS = 8_000;

/** Grey bars, and after eight seconds a sentence. Requests time out after fifteen. */
export function Loading({ what = "data" }: { what?: string }) {
  const [isLong, setLong] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setLong(true), SLOW_AFTER_MS);
    return () => clearTimeout(timer);
  }, []);
  return (
    <div className="loading" role="status">
      <span className="hidden-text">Loading {what}…</span>
      <div className="loading-bar" />
      <div className="loading-bar" />
      <div className="loading-bar" />
      {isLong && <p>Still loading. The request times out after 15 seconds.</p>}
    </div>
  );
}

/** An empty list, with what to do next. */
export function EmptyState({ title, icon, children, action }: { title: string; icon?: IconName; children?: ReactNode; action?: ReactNode }) {
  return (
    <div className="empty">
      {icon && <Icon icon={icon} />}
      <p className="empty-title">{title}</p>
      {children && <p>{children}</p>}
      {action && <div className="row">{action}</div>}
    </div>
  );
}

/** A note with a tone. */
export function Note({ tone = "idle", icon = "alert", small = false, children }: { tone?: "good" | "bad" | "warn" | "busy" | "idle"; icon?: IconName; small?: boolean; children: ReactNode }) {
  return (
    <div className={`note tone-${tone} ${small ? "note-small" : ""}`}>
      <Icon icon={icon} />
      <div className="grow wrap">{children}</div>
    </div>
  );
}

interface ErrorLike {
  message: string;
  requestId?: string | null;
}

/** An error as a sentence, with the request id to search the log for, and a retry button. */
export function ErrorNote({ error, retry, doing }: { error: unknown; retry?: () => void; doing?: string }) {
  const failure = error as ErrorLike | null;
  if (!failure) return null;
  const message = typeof failure.message === "string" && failure.message ? failure.message : "unknown error";
  return (
    <div className="note tone-bad" role="alert">
      <Icon icon="alert" />
      <div className="grow wrap">
        {doing && <strong>{doing} failed. </strong>}
        {toSentence(message)}
        {failure.requestId && <div className="faint mono">Request id: {failure.requestId}</div>}
      </div>
      {retry && (
        <Button small onClick={retry}>
          Try again
        </Button>
      )}
    </div>
  );
}

interface QueryState<T> {
  data: T | undefined;
  error: Error | null;
  isPending: boolean;
  refetch: () => unknown;
}

/** Renders the state of a query: loading, the error, or the data. */
export function QueryView<T>({ query, what, children }: { query: QueryState<T>; what?: string; children: (data: T) => ReactNode }) {
  if (query.data !== undefined) {
    return (
      <>
        {query.error && <ErrorNote error={query.error} retry={() => void query.refetch()} />}
        {children(query.data)}
      </>
    );
  }
  if (query.error) return <ErrorNote error={query.error} retry={() => void query.refetch()} />;
  return <Loading {...(what ? { what } : {})} />;
}
