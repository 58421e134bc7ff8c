-- Claim messages for one attempt. A sender with an older number of attempts records nothing.
update rota.notifications as n
set
    state = 'sending',
    attempts = n.attempts + 1,
    lease_until = :now::timestamptz + :lease::interval
from rota.notifications as o
left join rota.tenants as t on o.tenant_id = t.id
where
    n.id = o.id
    and n.id = any(:ids::uuid[])
    and (
        n.state = 'pending'
        or (n.state = 'sending' and n.lease_until <= :now::timestamptz)
    )
returning
    n.id,
    n.tenant_id,
    coalesce(t.name, 'platform') as tenant,
    n.group_id,
    n.channel,
    n.kind,
    n.severity,
    n.dedup_key,
    n.content,
    n.incident_ids,
    n.attempts,
    n.created_at;
