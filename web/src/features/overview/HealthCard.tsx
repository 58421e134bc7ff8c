// The health of the schedulers with their shards, the workers and the database.
import { Link } from "wouter";
import { useDatabaseLatency } from "../../api/health.ts";
import { useApiQuery } from "../../api/queries.ts";
import { Card } from "../../ui/Card.tsx";
import { Icon } from "../../ui/Icon.tsx";
import { ErrorNote, Loading } from "../../ui/Notes.tsx";
import { type Health, schedulerHealth, workerHealth } from "./model.ts";

export function HealthCard() {
  const schedulers = useApiQuery("GET /v1/schedulers", {}, { every: 10_000 });
  const workers = useApiQuery("GET /v1/workers", {}, { every: 10_000 });
  const ready = useDatabaseLatency();
  const error = schedulers.error ?? workers.error;
  return (
    <Card title="Health">
      {error && <ErrorNote error={error} />}
      {!schedulers.data || !workers.data ? (
        error ? null : (
          <Loading what="health" />
        )
      ) : (
        <ul className="health">
          <Line health={schedulerHealth(schedulers.data.data)} />
          <Line health={workerHealth(workers.data.data)} />
          <Line health={databaseHealth(ready.data, ready.error)} />
        </ul>
      )}
    </Card>
  );
}

function databaseHealth(took: number | undefined, error: Error | null): Health {
  const about = { name: "Database", href: null };
  if (error) return { ...about, tone: "bad", sentence: `Unreachable: ${error.message}.` };
  if (took === undefined) return { ...about, tone: "warn", sentence: "Checking…" };
  return { ...about, tone: took > 1000 ? "warn" : "good", sentence: `Responded in ${Math.max(1, Math.round(took))} ms.` };
}

function Line({ health }: { health: Health }) {
  const name = health.href ? <Link href={health.href}>{health.name}</Link> : health.name;
  return (
    <li className={`tone-${health.tone}`}>
      <Icon icon={health.tone === "good" ? "check" : "alert"} />
      <div>
        <strong>{name}</strong>
        <p className="soft" data-figure={`overview.health.${health.name.toLowerCase()}`}>
          {health.sentence}
        </p>
      </div>
    </li>
  );
}
