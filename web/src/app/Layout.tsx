// The frame around every page: navigation, top bar, command palette and keyboard shortcuts.
import { type ReactNode, useEffect, useRef, useState } from "react";
import { Link, useLocation } from "wouter";
import { useConnection } from "../api/live.ts";
import { type Session, logOut, may } from "../api/session.ts";
import { IconButton } from "../ui/Button.tsx";
import { Icon } from "../ui/Icon.tsx";
import { Menu } from "../ui/Menu.tsx";
import { ZONE } from "../ui/Time.tsx";
import { toast } from "../ui/Toast.tsx";
import { type ZoneChoice, chooseZone, readZoneChoice, zoneName } from "../lib/zone.ts";
import { Logo } from "./Logo.tsx";
import { Palette } from "./Palette.tsx";
import { GROUPS, ROUTES } from "./routes.ts";
import { ShortcutsDialog, useShortcuts } from "./Shortcuts.tsx";
import { nextTheme, useTheme } from "./theme.ts";

export function Layout({ session, children }: { session: Session; children: ReactNode }) {
  const [open, setOpen] = useState<"palette" | "shortcuts" | "nav" | null>(null);
  const [at] = useLocation();
  useShortcuts({ palette: () => setOpen("palette"), help: () => setOpen("shortcuts") });
  useEffect(() => setOpen((now) => (now === "nav" ? null : now)), [at]);
  return (
    <div className="shell">
      <a className="skip" href="#content">
        Skip to content
      </a>
      <aside className={`side ${open === "nav" ? "side-open" : ""}`}>
        <Link href="/" className="brand">
          <Logo />
          Rota
        </Link>
        <Navigation at={at} />
      </aside>
      {open === "nav" && <div className="side-backdrop" onClick={() => setOpen(null)} />}
      <div className="main">
        <header className="top">
          <div className="top-menu">
            <IconButton icon="menu" name="Navigation" aria-expanded={open === "nav"} onClick={() => setOpen(open === "nav" ? null : "nav")} />
          </div>
          <button type="button" className="finder" onClick={() => setOpen("palette")}>
            <Icon icon="search" />
            <span className="grow cut">Search jobs, runs and pages</span>
            <kbd className="kbd">Ctrl K</kbd>
          </button>
          <div className="row top-end">
            <ConnectionStatus />
            <ZoneMenu />
            <ThemeButton />
            <Account session={session} help={() => setOpen("shortcuts")} />
          </div>
        </header>
        <Content at={at}>{children}</Content>
      </div>
      {open === "palette" && <Palette close={() => setOpen(null)} help={() => setOpen("shortcuts")} />}
      {open === "shortcuts" && <ShortcutsDialog close={() => setOpen(null)} />}
    </div>
  );
}

/** Scrolls a new page to its top and focuses it, so that screen readers announce its title. */
function Content({ at, children }: { at: string; children: ReactNode }) {
  const element = useRef<HTMLElement>(null);
  const isFirst = useRef(true);
  useEffect(() => {
    if (!isFirst.current) {
      window.scrollTo(0, 0);
      element.current?.focus({ preventScroll: true });
    }
    isFirst.current = false;
  }, [at]);
  return (
    <main id="content" className="content" ref={element} tabIndex={-1}>
      {children}
    </main>
  );
}

function Navigation({ at }: { at: string }) {
  return (
    <nav aria-label="Pages" className="nav">
      {GROUPS.map((group) => {
        const pages = ROUTES.filter((route) => route.nav?.group === group && (!route.needs || may(route.needs)));
        if (pages.length === 0) return null;
        return (
          <div key={group} className="nav-group">
            <p className="nav-title" id={`nav-${group}`}>
              {group}
            </p>
            <ul aria-labelledby={`nav-${group}`}>
              {pages.map((page) => {
                const isHere = page.path === "/" ? at === "/" : at === page.path || at.startsWith(`${page.path}/`);
                return (
                  <li key={page.path}>
                    <Link href={page.path} className="nav-link" aria-current={isHere ? "page" : undefined}>
                      <Icon icon={page.nav?.icon ?? "dot"} />
                      {page.title}
                    </Link>
                  </li>
                );
              })}
            </ul>
          </div>
        );
      })}
    </nav>
  );
}

const CONNECTIONS = {
  live: { tone: "good", word: "Live", about: "Changes appear as they happen." },
  connecting: { tone: "warn", word: "Connecting", about: "Connecting to the live feed." },
  polling: { tone: "idle", word: "Polling", about: "The live feed is unavailable. Pages refresh periodically." },
  off: { tone: "idle", word: "Offline", about: "Not connected to the server." },
} as const;

function ConnectionStatus() {
  const { tone, word, about } = CONNECTIONS[useConnection()];
  return (
    <span className={`live tone-${tone}`} title={about} role="status">
      <i />
      <span className="live-word">{word}</span>
    </span>
  );
}

/** Chooses the time zone of every page. */
function ZoneMenu() {
  const chosen = readZoneChoice();
  const item = (choice: ZoneChoice, label: string) => ({ label, icon: choice === chosen ? ("check" as const) : ("clock" as const), act: () => chooseZone(choice) });
  return <Menu name={`Times shown in ${ZONE}`} label={<span className="zone-name">{ZONE}</span>} items={[item("browser", `${zoneName("browser")} (this browser)`), item("utc", "UTC")]} />;
}

function ThemeButton() {
  const theme = useTheme();
  const icons = { system: "screen", light: "sun", dark: "moon" } as const;
  return <IconButton icon={icons[theme]} name={`Theme: ${theme}`} onClick={nextTheme} />;
}

function Account({ session, help }: { session: Session; help: () => void }) {
  const handleLogOut = () => {
    logOut().catch(() => toast("Log-out failed: the server is unreachable", "bad"));
  };
  return (
    <>
      <span className="who soft cut" title={`Key ${session.name}, role ${session.role}`}>
        {session.user_id ?? session.name} · {session.tenant}
      </span>
      <Menu
        name="Account"
        icon="people"
        items={[
          { label: "Keyboard shortcuts", icon: "list", act: help },
          { label: "API reference", icon: "book", act: () => window.open("/docs", "_blank", "noopener") },
          { label: "Log out", icon: "out", act: handleLogOut },
        ]}
      />
    </>
  );
}

