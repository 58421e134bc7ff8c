// Who may see what: the log-in page, or the shell with a page in it.
import { Suspense, useEffect, useState } from "react";
import { Redirect, Route, Switch, useLocation } from "wouter";
import { connect, disconnect } from "../api/live.ts";
import { queryClient } from "../api/queries.ts";
import { may, resume, useSession } from "../api/session.ts";
import { ButtonLink } from "../ui/Button.tsx";
import { EmptyState, ErrorNote, Loading } from "../ui/Notes.tsx";
import { Toasts } from "../ui/Toast.tsx";
import { Boundary } from "./Boundary.tsx";
import { Layout } from "./Layout.tsx";
import { LoginPage } from "./LoginPage.tsx";
import { ROUTES, type Route as Page } from "./routes.ts";

export function App() {
  const session = useSession();
  const [error, setError] = useState<unknown>(null);
  const [tries, setTries] = useState(0);
  useEffect(() => {
    setError(null);
    resume().catch(setError);
  }, [tries]);
  useEffect(() => {
    if (!session) return;
    connect();
    return () => {
      disconnect();
      queryClient.clear();
    };
  }, [session]);
  return (
    <>
      {session ? (
        <Switch>
          <Route path="/login" component={Back} />
          <Route>
            <Layout session={session}>
              <Pages />
            </Layout>
          </Route>
        </Switch>
      ) : error ? (
        <main className="alone">
          <ErrorNote error={error} retry={() => setTries((times) => times + 1)} />
        </main>
      ) : session === null ? (
        <Outside />
      ) : (
        <main className="alone">
          <Loading what="the session" />
        </main>
      )}
      <Toasts />
    </>
  );
}

/** Not logged in: every path leads to the log-in page, which remembers it. */
function Outside() {
  const [at] = useLocation();
  if (at === "/login") return <LoginPage />;
  const wanted = at + window.location.search;
  return <Redirect to={wanted === "/" ? "/login" : `/login?to=${encodeURIComponent(wanted)}`} replace />;
}

/** Logged in: back to where one wanted to go, within this page only. */
function Back() {
  const to = new URLSearchParams(window.location.search).get("to") ?? "/";
  return <Redirect to={/^\/(?![/\\])/.test(to) ? to : "/"} replace />;
}

function Pages() {
  const [at] = useLocation();
  return (
    <Boundary key={at}>
      <Suspense fallback={<Loading what="the page" />}>
        <Switch>
          {ROUTES.map((route) => (
            <Route key={route.path} path={route.path}>
              <Shown route={route} />
            </Route>
          ))}
          <Route>
            <EmptyState sign="search" title="There is no such page." action={<ButtonLink href="/">To the overview</ButtonLink>}>
              The link may be old, or a letter is missing.
            </EmptyState>
          </Route>
        </Switch>
      </Suspense>
    </Boundary>
  );
}

function Shown({ route }: { route: Page }) {
  useEffect(() => {
    document.title = `${route.title} · Rota`;
  }, [route.title]);
  if (route.needs && !may(route.needs)) {
    return (
      <EmptyState sign="lock" title="Your key does not allow this." action={<ButtonLink href="/">To the overview</ButtonLink>}>
        Ask whoever manages the tenant for a key with a higher role.
      </EmptyState>
    );
  }
  const Page = route.page;
  return <Page />;
}
