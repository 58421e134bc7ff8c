// Whether everything that is needed is alive: schedulers with their shards, workers, the database.
import { Link } from "wouter";
import { useReady } from "../../api/health.ts";
import { useAsk } from "../../api/queries.ts";
import { Card } from "../../ui/Card.tsx";
import { Icon } from "../../ui/Icon.tsx";
import { ErrorNote, Loading } from "../../ui/Notes.tsx";
import { type Health, schedulerHealth, workerHealth } from "./model.ts";

export function HealthCard() {
  const schedulers = useAsk("GET /v1/schedulers", {}, { every: 10_000 });
  const workers = useAsk("GET /v1/workers", {}, { every: 10_000 });
  const ready = useReady();
  const error = schedulers.error ?? workers.error;
  return (
    <Card title="Health">
      {error && <ErrorNote error={error} />}
      {!schedulers.data || !workers.data ? (
        error ? null : (
          <Loading what="the health" />
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
  if (error) return { ...about, tone: "bad", sentence: `It does not answer: ${error.message}.` };
  if (took === undefined) return { ...about, tone: "warn", sentence: "It is being asked." };
  return { ...about, tone: took > 1000 ? "warn" : "good", sentence: `It answered in ${Math.max(1, Math.round(took))} ms.` };
}

function Line({ health }: { health: Health }) {
  const name = health.href ? <Link href={health.href}>{health.name}</Link> : health.name;
  return (
    <li className={`tone-${health.tone}`}>
      <Icon sign={health.tone === "good" ? "check" : "alert"} />
      <div>
        <strong>{name}</strong>
        <p className="soft" data-figure={`overview.health.${health.name.toLowerCase()}`}>
          {health.sentence}
        </p>
      </div>
    </li>
  );
}
