-- Messages of the group of an incident from its opening to its end, first message first.
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
inner join rota.incidents as i on n.group_id = i.group_id
where
    i.id = :incident_id::uuid
    and n.tenant_id = :tenant_id::integer
    and n.created_at >= i.opened_at
    and (
        i.resolved_at is null
        or n.created_at <= i.resolved_at
        or i.id = any(n.incident_ids)
    )
order by n.created_at, n.id
limit :most::integer;
