-- Messages of a tenant, latest first.
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
    (n.tenant_id = :tenant_id::integer or (:is_platform::boolean and n.tenant_id = 0))
    and (:channel::text is null or n.channel = :channel::text)
    and (:state::text is null or n.state = :state::text)
    and (
        :before_at::timestamptz is null
        or (n.created_at, n.id) < (:before_at::timestamptz, :before_id::uuid)
    )
order by n.created_at desc, n.id desc
limit :most::integer;
