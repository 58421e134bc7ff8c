// Logs in with an API key, or with the ticket of a link that `rota up` or `rota open` printed.
import { type FormEvent, useEffect, useRef, useState } from "react";
import { logIn } from "../api/session.ts";
import { Button } from "../ui/Button.tsx";
import { TextField } from "../ui/Fields.tsx";
import { ErrorNote, Note } from "../ui/Notes.tsx";
import { Logo } from "./Logo.tsx";

export function LoginPage() {
  const [key, setKey] = useState("");
  const [error, setError] = useState<unknown>(null);
  const [isBusy, setBusy] = useState(false);
  const ticket = useRef(takeTicket());
  const enter = (credentials: { key: string } | { ticket: string }) => {
    setBusy(true);
    setError(null);
    logIn(credentials)
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
    if (key.trim() === "") setError(new Error("Enter an API key"));
    else enter({ key: key.trim() });
  };
  return (
    <main className="centered">
      <form className="login" onSubmit={submit}>
        <div className="row">
          <Logo />
          <h1>Log in to Rota</h1>
        </div>
        <TextField label="API key" type="password" name="key" autoComplete="current-password" placeholder="rota_…" value={key} change={setKey} autoFocus />
        {error ? <ErrorNote error={error} /> : null}
        <Button type="submit" look="primary" disabled={isBusy}>
          {isBusy ? "Logging in…" : "Log in"}
        </Button>
        <Note small icon="key">
          <code>rota open</code> logs you in without a key. <code>rota up</code> prints a key on its first start. The key is sent once and is not stored in this browser.
        </Note>
      </form>
    </main>
  );
}

/** Returns the ticket and removes it from the address, because it is valid for one log-in only. */
function takeTicket(): string | null {
  const found = new URLSearchParams(window.location.hash.slice(1)).get("ticket");
  if (found) window.history.replaceState(null, "", window.location.pathname + window.location.search);
  return found;
}
