// Schedulers, and which of the 128 shards each fires.
import { useAsk } from "../../api/queries.ts";
import type { SchedulerView, ShardView } from "../../api/schema.gen.ts";
import { count } from "../../lib/figures.ts";
import { Card } from "../../ui/Card.tsx";
import { type Column, DataTable } from "../../ui/DataTable.tsx";
import { Answered, EmptyState, Note } from "../../ui/Notes.tsx";
import { StateBadge } from "../../ui/State.tsx";
import { Duration, Time } from "../../ui/Time.tsx";
import { ranges, shares } from "./model.ts";

export function Schedulers() {
  const schedulers = useAsk("GET /v1/schedulers", {}, { every: 5_000, keep: true });
  const shards = useAsk("GET /v1/shards", {}, { every: 5_000, keep: true });
  return (
    <Card flush title="Schedulers">
      <Answered asked={schedulers} what="the schedulers">
        {({ data }) => (
          <DataTable
            name="Schedulers"
            rows={data}
            columns={COLUMNS}
            rowKey={(scheduler) => scheduler.scheduler_id}
            empty={
              <EmptyState title="No scheduler is alive." sign="clock">
                Nothing fires without one. Start one with <code>rota scheduler</code>.
              </EmptyState>
            }
          />
        )}
      </Answered>
      {shards.data && <ShardMap shards={shards.data.data} />}
    </Card>
  );
}

const COLUMNS: Column<SchedulerView>[] = [
  { id: "name", head: "Scheduler", cell: (scheduler) => <span className="table-main wrap">{scheduler.name}</span> },
  { id: "state", head: "State", cell: (scheduler) => <StateBadge state={scheduler.is_draining ? "draining" : "active"} /> },
  { id: "shards", head: "Shards", num: true, cell: (scheduler) => scheduler.shards.length },
  { id: "which", head: "Which", show: "middle", cell: (scheduler) => <span className="faint">{ranges(scheduler.shards)}</span> },
  { id: "up", head: "Up", num: true, show: "wide", cell: (scheduler) => <Duration start={scheduler.started_at} end={null} /> },
  { id: "beat", head: "Heartbeat", num: true, show: "middle", cell: (scheduler) => <Time at={scheduler.beat_at} as="relative" /> },
];

/** One cell for each shard; who fires it is told in words above and on hover. */
function ShardMap({ shards }: { shards: readonly ShardView[] }) {
  const { owners, orphans } = shares(shards);
  return (
    <div className="shards">
      {orphans.length > 0 && (
        <Note tone="bad">
          Nobody fires {count(orphans.length, "shard")} ({ranges(orphans)}): their jobs wait until a scheduler takes them, which is a matter of seconds while one is alive.
        </Note>
      )}
      <div className="shard-map" role="img" aria-label={`${shards.length - orphans.length} of ${shards.length} shards are held by ${count(owners.length, "scheduler")}`}>
        {shards.map((shard) => (
          <span key={shard.shard} className={`shard shard-${shard.scheduler === null ? "none" : owners.indexOf(shard.scheduler) % 6}`} title={`shard ${shard.shard}: ${shard.scheduler ?? "nobody"}`} />
        ))}
      </div>
    </div>
  );
}
