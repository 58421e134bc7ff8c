// Layout components of pages: cards, figures, facts, gauges, tabs, page heads.
import type { ReactNode } from "react";
import { Link } from "wouter";

/** `flush`: the content reaches the edges of the card. */
export function Card({ title, aside, flush = false, children }: { title?: ReactNode; aside?: ReactNode; flush?: boolean; children: ReactNode }) {
  return (
    <section className={`card ${flush ? "card-flush" : ""}`}>
      {(title || aside) && (
        <div className="card-head">
          {title ? <h2>{title}</h2> : <span />}
          {aside && <div className="row">{aside}</div>}
        </div>
      )}
      {flush ? children : <div className="card-body">{children}</div>}
    </section>
  );
}

/** Names a figure for the tests that compare it with the database. */
export function Figure({ of, children }: { of: string; children: ReactNode }) {
  return <span data-figure={of}>{children}</span>;
}

interface StatProps {
  /** See Figure. */
  figure: string;
  /** Whether the note is a figure of its own, `<figure>.note`. */
  counts?: boolean;
  name: string;
  value: ReactNode;
  unit?: string;
  note?: ReactNode;
  tone?: "bad" | "warn" | "good";
}

/** A figure with its name. */
export function Stat({ figure, counts = false, name, value, unit, note, tone }: StatProps) {
  return (
    <div className="stat">
      <span className="stat-name">{name}</span>
      <span className={`stat-value ${tone ? `stat-${tone}` : ""}`} data-figure={figure}>
        {value}
        {unit && <span className="stat-unit">{unit}</span>}
      </span>
      {note && (
        <span className="stat-note" data-figure={counts ? `${figure}.note` : undefined}>
          {note}
        </span>
      )}
    </div>
  );
}

/** A list of names and values. */
export function Facts({ of }: { of: readonly (readonly [string, ReactNode] | null | false)[] }) {
  return (
    <dl className="facts">
      {of.map(
        (fact) =>
          fact && (
            <div key={fact[0]} className="fact">
              <dt>{fact[0]}</dt>
              <dd>{fact[1]}</dd>
            </div>
          ),
      )}
    </dl>
  );
}

/** Usage of a limit; `max` null means no limit. */
export function Gauge({ value, max, name }: { value: number; max: number | null; name: string }) {
  const share = max ? Math.min(1, value / max) : 0;
  const tone = share >= 1 ? "bad" : share >= 0.8 ? "warn" : "busy";
  return (
    <div className={`gauge tone-${tone}`}>
      <span>
        {value} <span className="faint">{max === null ? "no limit" : `of ${max}`}</span>
      </span>
      <div className="bar" role="meter" aria-label={name} aria-valuenow={value} aria-valuemin={0} aria-valuemax={max ?? Math.max(value, 1)}>
        <div style={{ width: `${share * 100}%` }} />
      </div>
    </div>
  );
}

/** Progress, from 0 to 1. */
export function ProgressBar({ share, name }: { share: number; name: string }) {
  const percent = Math.round(Math.max(0, Math.min(1, share)) * 100);
  return (
    <div className="bar" role="progressbar" aria-label={name} aria-valuenow={percent} aria-valuemin={0} aria-valuemax={100}>
      <div style={{ width: `${percent}%` }} />
    </div>
  );
}

/** Tabs of a page; each is a link, so that it can be shared. */
export function Tabs({ name, at, tabs }: { name: string; at: string; tabs: readonly { id: string; label: ReactNode; href: string }[] }) {
  return (
    <nav className="tabs" aria-label={name}>
      {tabs.map((tab) => (
        <Link key={tab.id} href={tab.href} className="tab" aria-current={tab.id === at ? "page" : undefined}>
          {tab.label}
        </Link>
      ))}
    </nav>
  );
}

/** The head of a page: breadcrumb, title, description and actions. */
export function PageHead({ title, trail, about, children }: { title: ReactNode; trail?: ReactNode; about?: ReactNode; children?: ReactNode }) {
  return (
    <header className="page-head">
      <div className="grow">
        {trail && <div className="page-trail">{trail}</div>}
        <h1 className="wrap">{title}</h1>
        {about && <div className="soft">{about}</div>}
      </div>
      {children && <div className="row">{children}</div>}
    </header>
  );
}
