// Shows the log-in page, or the layout with the current page.
import { Suspense, useEffect, useState } from "react";
import { Redirect, Route, Switch, useLocation } from "wouter";
import { connect, disconnect } from "../api/live.ts";
import { queryClient } from "../api/queries.ts";
import { may, loadSession, useSession } from "../api/session.ts";
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
  const [attempt, setAttempt] = useState(0);
  useEffect(() => {
    setError(null);
    loadSession().catch(setError);
  }, [attempt]);
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
          <Route path="/login" component={ReturnRedirect} />
          <Route>
            <Layout session={session}>
              <Pages />
            </Layout>
          </Route>
        </Switch>
      ) : error ? (
        <main className="centered">
          <ErrorNote error={error} retry={() => setAttempt((number) => number + 1)} />
        </main>
      ) : session === null ? (
        <LoginRedirect />
      ) : (
        <main className="centered">
          <Loading what="session" />
        </main>
      )}
      <Toasts />
    </>
  );
}

/** Redirects every path to the log-in page, which remembers the path. */
function LoginRedirect() {
  const [at] = useLocation();
  if (at === "/login") return <LoginPage />;
  const wanted = at + window.location.search;
  return <Redirect to={wanted === "/" ? "/login" : `/login?to=${encodeURIComponent(wanted)}`} replace />;
}

/** After log-in: redirects to the remembered path. Accepts paths of this site only. */
function ReturnRedirect() {
  const to = new URLSearchParams(window.location.search).get("to") ?? "/";
  return <Redirect to={/^\/(?![/\\])/.test(to) ? to : "/"} replace />;
}

function Pages() {
  const [at] = useLocation();
  return (
    <Boundary key={at}>
      <Suspense fallback={<Loading what="page" />}>
        <Switch>
          {ROUTES.map((route) => (
            <Route key={route.path} path={route.path}>
              <RoutePage route={route} />
            </Route>
          ))}
          <Route>
            <EmptyState icon="search" title="Page not found" action={<ButtonLink href="/">Go to overview</ButtonLink>}>
              The link may be outdated or incomplete.
            </EmptyState>
          </Route>
        </Switch>
      </Suspense>
    </Boundary>
  );
}

function RoutePage({ route }: { route: Page }) {
  useEffect(() => {
    document.title = `${route.title} · Rota`;
  }, [route.title]);
  if (route.needs && !may(route.needs)) {
    return (
      <EmptyState icon="lock" title="Permission denied" action={<ButtonLink href="/">Go to overview</ButtonLink>}>
        Your key's role does not allow this page. Ask an admin of the tenant for a key with a higher role.
      </EmptyState>
    );
  }
  const Page = route.page;
  return <Page />;
}
