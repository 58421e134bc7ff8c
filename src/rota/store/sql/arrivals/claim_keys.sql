-- Enter events by their keys; one that is there already, or is being entered by somebody else who
-- then commits, is not returned. In one order, so that two who enter the same do not block each
-- other.
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
