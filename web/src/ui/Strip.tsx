// Recent outcomes in a row: small in lists, large with reasons on the page of a job.
import { Link } from "wouter";
import { look } from "../lib/states.ts";

export interface Outcome {
  id: string;
  state: string;
  /** What is told about it, on hover and to screen readers. */
  told: string;
  href: string;
  /** From 0 to 1; how tall it is. */
  size?: number;
}

/** Oldest first. One picture for screen readers: how many of what. */
export function Sparks({ outcomes, name }: { outcomes: readonly Outcome[]; name: string }) {
  if (outcomes.length === 0) return <span className="faint">–</span>;
  return (
    <div className="spark" role="img" aria-label={`${name}: ${counted(outcomes)}`}>
      {outcomes.map((each) => (
        <span key={each.id} className={`tone-${look(each.state).tone}`} title={each.told} style={{ height: `${30 + 70 * (each.size ?? 1)}%` }} />
      ))}
    </div>
  );
}

/** Counts of equal spans of time, the oldest first. One picture for screen readers. */
export function Bars({ counts, name }: { counts: readonly number[]; name: string }) {
  const most = Math.max(1, ...counts);
  const total = counts.reduce((sum, each) => sum + each, 0);
  return (
    <div className="spark tone-bad" role="img" aria-label={`${name}: ${total} in total, at most ${Math.max(0, ...counts)}`} title={name}>
      {counts.map((each, place) => (
        <span key={place} className={each === 0 ? "spark-none" : ""} style={{ height: `${each === 0 ? 8 : 20 + (80 * each) / most}%` }} />
      ))}
    </div>
  );
}

/** Each is a link that says what it is. */
export function TickStrip({ outcomes, name }: { outcomes: readonly Outcome[]; name: string }) {
  return (
    <ol className="strip" aria-label={name}>
      {outcomes.map((each) => (
        <li key={each.id}>
          <Link href={each.href} className={`strip-tick tone-${look(each.state).tone} strip-${look(each.state).sign}`} aria-label={each.told} title={each.told} />
        </li>
      ))}
    </ol>
  );
}

function counted(outcomes: readonly Outcome[]): string {
  const counts = new Map<string, number>();
  for (const { state } of outcomes) counts.set(state, (counts.get(state) ?? 0) + 1);
  return [...counts].map(([state, number]) => `${number} ${look(state).word}`).join(", ");
}
