-- Add events to batches that the caller has locked; for the same part, the latest stays.
insert into rota.event_members (run_id, part, event_id, tenant_id)
select
    n.run_id,
    n.part,
    n.event_id,
    :tenant_id::integer
from unnest(:run_ids::uuid[], :parts::integer[], :event_ids::uuid[]) as n (run_id, part, event_id)
on conflict (run_id, part) do update
    set event_id = excluded.event_id
returning run_id;
