// Logging in with an API key, or by the ticket of a link that `rota up` printed.
import { type FormEvent, useEffect, useRef, useState } from "react";
import { logIn } from "../api/session.ts";
import { Button } from "../ui/Button.tsx";
import { TextField } from "../ui/Fields.tsx";
import { ErrorNote, Note } from "../ui/Notes.tsx";
import { Mark } from "./Mark.tsx";

export function LoginPage() {
  const [key, setKey] = useState("");
  const [error, setError] = useState<unknown>(null);
  const [isBusy, setBusy] = useState(false);
  const ticket = useRef(takeTicket());
  const enter = (with_: { key: string } | { ticket: string }) => {
    setBusy(true);
    setError(null);
    logIn(with_)
      .catch(setError)
      .finally(() => setBusy(false));
  };
  useEffect(() => {
    document.title = "Log in · Rota";
    if (ticket.current) enter({ ticket: ticket.current });
    ticket.current = null;
  }, []);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (key.trim() === "") setError(new Error("Paste an API key first"));
    else enter({ key: key.trim() });
  };
  return (
    <main className="alone">
      <form className="login" onSubmit={submit}>
        <div className="row">
          <Mark />
          <h1>Log in to Rota</h1>
        </div>
        <TextField label="API key" type="password" name="key" autoComplete="current-password" placeholder="rota_…" value={key} change={setKey} autoFocus />
        {error ? <ErrorNote error={error} /> : null}
        <Button type="submit" look="primary" disabled={isBusy}>
          {isBusy ? "Logging in…" : "Log in"}
        </Button>
        <Note small sign="key">
          <code>rota open</code> logs in without typing. <code>rota up</code> prints a key when it starts for the first time. The key is sent once and is not kept in this browser.
        </Note>
      </form>
    </main>
  );
}

/** Taken out of the address at once: it is good for one log-in, and no history needs it. */
function takeTicket(): string | null {
  const found = new URLSearchParams(window.location.hash.slice(1)).get("ticket");
  if (found) window.history.replaceState(null, "", window.location.pathname + window.location.search);
  return found;
}
