// Formats workers and shards. Pure.
import type { ShardView, WorkerView } from "../../api/schema.gen.ts";

export function stateOf(worker: Pick<WorkerView, "is_alive" | "is_draining">): "active" | "draining" | "stopped" {
  if (!worker.is_alive) return "stopped";
  return worker.is_draining ? "draining" : "active";
}

/** "0–12, 40": consecutive numbers as ranges. */
export function ranges(numbers: readonly number[]): string {
  const parts: string[] = [];
  const sorted = [...numbers].sort((a, b) => a - b);
  for (let at = 0; at < sorted.length; at += 1) {
    const first = sorted[at] as number;
    while (at + 1 < sorted.length && sorted[at + 1] === (sorted[at] as number) + 1) at += 1;
    const last = sorted[at] as number;
    parts.push(first === last ? `${first}` : `${first}–${last}`);
  }
  return parts.join(", ");
}

/** The schedulers that hold shards, and the shards without a scheduler. */
export function shares(shards: readonly Pick<ShardView, "shard" | "scheduler">[]): { owners: string[]; orphans: number[] } {
  const owners = [...new Set(shards.flatMap((shard) => shard.scheduler ?? []))].sort();
  return { owners, orphans: shards.filter((shard) => shard.scheduler === null).map((shard) => shard.shard) };
}
