// Boxes that pages are made of.
import type { ReactNode } from "react";
import { Link } from "wouter";

/** `flush`: a list or a picture that goes to the edges. */
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

/** What a figure is known by to the tests that compare it with the tables. */
export function Figure({ of, children }: { of: string; children: ReactNode }) {
  return <span data-figure={of}>{children}</span>;
}

interface StatProps {
  /** See Figure. */
  figure: string;
  /** Whether the note tells a figure of its own, `<figure>.note`. */
  counts?: boolean;
  name: string;
  value: ReactNode;
  unit?: string;
  note?: ReactNode;
  tone?: "bad" | "warn" | "good";
}

/** One figure with its name. */
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

/** Names and values. */
export function Facts({ of }: { of: readonly (readonly [string, ReactNode] | null | false)[] }) {
  return (
    <dl className="facts">
      {of.map(
        (each) =>
          each && (
            <div key={each[0]} className="fact">
              <dt>{each[0]}</dt>
              <dd>{each[1]}</dd>
            </div>
          ),
      )}
    </dl>
  );
}

/** How full something is; `most` null is without a limit. */
export function Gauge({ value, most, name }: { value: number; most: number | null; name: string }) {
  const share = most ? Math.min(1, value / most) : 0;
  const tone = share >= 1 ? "bad" : share >= 0.8 ? "warn" : "busy";
  return (
    <div className={`gauge tone-${tone}`}>
      <span>
        {value} <span className="faint">{most === null ? "no limit" : `of ${most}`}</span>
      </span>
      <div className="bar" role="meter" aria-label={name} aria-valuenow={value} aria-valuemin={0} aria-valuemax={most ?? Math.max(value, 1)}>
        <div style={{ width: `${share * 100}%` }} />
      </div>
    </div>
  );
}

/** How far something is, from 0 to 1. */
export function ProgressBar({ share, name }: { share: number; name: string }) {
  const percent = Math.round(Math.max(0, Math.min(1, share)) * 100);
  return (
    <div className="bar" role="progressbar" aria-label={name} aria-valuenow={percent} aria-valuemin={0} aria-valuemax={100}>
      <div style={{ width: `${percent}%` }} />
    </div>
  );
}

/** Views of one thing; each is a link, so that it can be sent to somebody. */
export function Tabs({ name, at, tabs }: { name: string; at: string; tabs: readonly { id: string; label: ReactNode; href: string }[] }) {
  return (
    <nav className="tabs" aria-label={name}>
      {tabs.map((each) => (
        <Link key={each.id} href={each.href} className="tab" aria-current={each.id === at ? "page" : undefined}>
          {each.label}
        </Link>
      ))}
    </nav>
  );
}

/** A page's head: where one is, what it is called, what can be done. */
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
