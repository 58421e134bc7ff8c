// What is said instead of content: loading, nothing, an error, a remark.
import { type ReactNode, useEffect, useState } from "react";
import { sentence } from "../lib/words.ts";
import { Button } from "./Button.tsx";
import { Icon, type Sign } from "./Icon.tsx";

const LONG = 8_000;

/** Grey bars; after eight seconds a sentence. Requests end after fifteen, with an error. */
export function Loading({ what = "the answer" }: { what?: string }) {
  const [isLong, setLong] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setLong(true), LONG);
    return () => clearTimeout(timer);
  }, []);
  return (
    <div className="loading" role="status">
      <span className="hidden-text">Loading {what}.</span>
      <div className="loading-bar" />
      <div className="loading-bar" />
      <div className="loading-bar" />
      {isLong && <p>This takes longer than usual. The page gives up after 15 seconds and says why.</p>}
    </div>
  );
}

/** Nothing to show, and what to do about it. */
export function EmptyState({ title, sign, children, action }: { title: string; sign?: Sign; children?: ReactNode; action?: ReactNode }) {
  return (
    <div className="empty">
      {sign && <Icon sign={sign} />}
      <p className="empty-title">{title}</p>
      {children && <p>{children}</p>}
      {action && <div className="row">{action}</div>}
    </div>
  );
}

/** A remark with a tone. */
export function Note({ tone = "idle", sign = "alert", small = false, children }: { tone?: "good" | "bad" | "warn" | "busy" | "idle"; sign?: Sign; small?: boolean; children: ReactNode }) {
  return (
    <div className={`note tone-${tone} ${small ? "note-small" : ""}`}>
      <Icon sign={sign} />
      <div className="grow wrap">{children}</div>
    </div>
  );
}

interface Told {
  message: string;
  requestId?: string | null;
}

/** An error as a sentence, with the id to look for in the log, and a way to try again. */
export function ErrorNote({ error, retry, doing }: { error: unknown; retry?: () => void; doing?: string }) {
  const told = error as Told | null;
  if (!told) return null;
  const message = typeof told.message === "string" && told.message ? told.message : "something went wrong";
  return (
    <div className="note tone-bad" role="alert">
      <Icon sign="alert" />
      <div className="grow wrap">
        {doing && <strong>{doing} did not work. </strong>}
        {sentence(message)}
        {told.requestId && <div className="faint mono">request {told.requestId}</div>}
      </div>
      {retry && (
        <Button small onClick={retry}>
          Try again
        </Button>
      )}
    </div>
  );
}

interface Asked<T> {
  data: T | undefined;
  error: Error | null;
  isPending: boolean;
  refetch: () => unknown;
}

/** One answer of the API: loading, the error, or what is made of it. */
export function Answered<T>({ asked, what, children }: { asked: Asked<T>; what?: string; children: (data: T) => ReactNode }) {
  if (asked.data !== undefined) {
    return (
      <>
        {asked.error && <ErrorNote error={asked.error} retry={() => void asked.refetch()} />}
        {children(asked.data)}
      </>
    );
  }
  if (asked.error) return <ErrorNote error={asked.error} retry={() => void asked.refetch()} />;
  return <Loading {...(what ? { what } : {})} />;
}
