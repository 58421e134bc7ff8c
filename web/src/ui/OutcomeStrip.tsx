// Recent outcomes in a row: small in lists, large with reasons on the page of a job.
import { Link } from "wouter";
import { statusLook } from "../lib/states.ts";

export interface Outcome {
  id: string;
  state: string;
  /** The description, on hover and for screen readers. */
  description: string;
  href: string;
  /** Its height, from 0 to 1. */
  size?: number;
}

/** Oldest first. One image for screen readers, with the counts. */
export function Sparks({ outcomes, name }: { outcomes: readonly Outcome[]; name: string }) {
  if (outcomes.length === 0) return <span className="faint">–</span>;
  return (
    <div className="spark" role="img" aria-label={`${name}: ${countByStatus(outcomes)}`}>
      {outcomes.map((each) => (
        <span key={each.id} className={`tone-${statusLook(each.state).tone}`} title={each.description} style={{ height: `${30 + 70 * (each.size ?? 1)}%` }} />
      ))}
    </div>
  );
}

/** Counts of equal time spans, oldest first. One image for screen readers. */
export function Bars({ counts, name }: { counts: readonly number[]; name: string }) {
  const max = Math.max(1, ...counts);
  const total = counts.reduce((sum, each) => sum + each, 0);
  return (
    <div className="spark tone-bad" role="img" aria-label={`${name}: ${total} total, maximum ${Math.max(0, ...counts)}`} title={name}>
      {counts.map((each, place) => (
        <span key={place} className={each === 0 ? "spark-none" : ""} style={{ height: `${each === 0 ? 8 : 20 + (80 * each) / max}%` }} />
      ))}
    </div>
  );
}

/** Each outcome is a link with its description. */
export function TickStrip({ outcomes, name }: { outcomes: readonly Outcome[]; name: string }) {
  return (
    <ol className="strip" aria-label={name}>
      {outcomes.map((each) => (
        <li key={each.id}>
          <Link href={each.href} className={`strip-tick tone-${statusLook(each.state).tone} strip-${statusLook(each.state).icon}`} aria-label={each.description} title={each.description} />
        </li>
      ))}
    </ol>
  );
}

function countByStatus(outcomes: readonly Outcome[]): string {
  const counts = new Map<string, number>();
  for (const { state } of outcomes) counts.set(state, (counts.get(state) ?? 0) + 1);
  return [...counts].map(([state, number]) => `${number} ${statusLook(state).word}`).join(", ");
}
