// The schedulers, and the shards (of 128) that each of them holds.
import { useApiQuery } from "../../api/queries.ts";
import type { SchedulerView, ShardView } from "../../api/schema.gen.ts";
import { formatCount } from "../../lib/figures.ts";
import { Card } from "../../ui/Card.tsx";
import { type Column, DataTable } from "../../ui/DataTable.tsx";
import { QueryView, EmptyState, Note } from "../../ui/Notes.tsx";
import { StatusBadge } from "../../ui/StatusBadge.tsx";
import { Duration, Time } from "../../ui/Time.tsx";
import { ranges, shares } from "./model.ts";

export function Schedulers() {
  const schedulers = useApiQuery("GET /v1/schedulers", {}, { every: 5_000, keepPrevious: true });
  const shards = useApiQuery("GET /v1/shards", {}, { every: 5_000, keepPrevious: true });
  return (
    <Card flush title="Schedulers">
      <QueryView query={schedulers} what="schedulers">
        {({ data }) => (
          <DataTable
            name="Schedulers"
            rows={data}
            columns={COLUMNS}
            rowKey={(scheduler) => scheduler.scheduler_id}
            empty={
              <EmptyState title="No schedulers" icon="clock">
                Without a scheduler no job fires. Start one with <code>rota scheduler</code>.
              </EmptyState>
            }
          />
        )}
      </QueryView>
      {shards.data && <ShardMap shards={shards.data.data} />}
    </Card>
  );
}

const COLUMNS: Column<SchedulerView>[] = [
  { id: "name", head: "Scheduler", cell: (scheduler) => <span className="table-main wrap">{scheduler.name}</span> },
  { id: "state", head: "Status", cell: (scheduler) => <StatusBadge status={scheduler.is_draining ? "draining" : "active"} /> },
  { id: "shards", head: "Shards", num: true, cell: (scheduler) => scheduler.shards.length },
  { id: "which", head: "Shard numbers", show: "middle", cell: (scheduler) => <span className="faint">{ranges(scheduler.shards)}</span> },
  { id: "up", head: "Uptime", num: true, show: "wide", cell: (scheduler) => <Duration start={scheduler.started_at} end={null} /> },
  { id: "beat", head: "Heartbeat", num: true, show: "middle", cell: (scheduler) => <Time at={scheduler.beat_at} as="relative" /> },
];

/** One cell per shard; the table above and the hover text name its scheduler. */
function ShardMap({ shards }: { shards: readonly ShardView[] }) {
  const { owners, orphans } = shares(shards);
  return (
    <div className="shards">
      {orphans.length > 0 && (
        <Note tone="bad">
          {formatCount(orphans.length, "shard")} without a scheduler ({ranges(orphans)}): their jobs wait until a scheduler takes over, usually within seconds.
        </Note>
      )}
      <div className="shard-map" role="img" aria-label={`${shards.length - orphans.length} of ${shards.length} shards are held by ${formatCount(owners.length, "scheduler")}`}>
        {shards.map((shard) => (
          <span key={shard.shard} className={`shard shard-${shard.scheduler === null ? "none" : owners.indexOf(shard.scheduler) % 6}`} title={`shard ${shard.shard}: ${shard.scheduler ?? "no scheduler"}`} />
        ))}
      </div>
    </div>
  );
}
