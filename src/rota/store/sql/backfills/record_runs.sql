-- Record created runs until they have ended.
insert into rota.backfill_runs (backfill_id, run_id, tenant_id)
select
    :id::uuid,
    made.run_id,
    :tenant_id::integer
from unnest(:run_ids::uuid[]) as made (run_id)
on conflict (backfill_id, run_id) do nothing
returning run_id as id;
