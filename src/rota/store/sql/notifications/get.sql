-- One message of a tenant or, for the platform, of the installation.
select
    n.id,
    n.tenant_id,
    n.channel,
    n.kind,
    n.severity,
    n.state,
    n.content ->> 'title' as title,
    n.incident_ids,
    n.incident_count,
    n.created_at,
    n.next_at,
    n.sent_at,
    n.attempts,
    n.error,
    n.digest_id
from rota.notifications as n
where
    n.id = :id::uuid
    and (n.tenant_id = :tenant_id::integer or (:is_platform::boolean and n.tenant_id = 0));
