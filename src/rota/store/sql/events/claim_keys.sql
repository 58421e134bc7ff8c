-- Insert the keys of events. A key that exists, or that a concurrent transaction inserts and
-- commits, is not returned. Sorted, so that two transactions with the same keys do not deadlock.
insert into rota.event_keys (tenant_id, digest, event_id, received_at)
select
    :tenant_id::integer,
    n.digest,
    n.event_id,
    :received_at::timestamptz
from unnest(:digests::bytea[], :event_ids::uuid[]) as n (digest, event_id)
order by n.digest
on conflict (tenant_id, digest) do nothing
returning digest;
