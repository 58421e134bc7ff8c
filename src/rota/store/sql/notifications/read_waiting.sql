-- Messages that a channel waits for: those that are due, and those whose sender is gone. Pages come
-- first, then the ends of what the channel knows from a message of its own: it may keep them open.
-- A message whose incidents are all silenced waits for the end of the silence. The caller has
-- locked the channel.
select
    n.id,
    n.tenant_id,
    n.severity,
    n.kind,
    n.attempts,
    n.created_at,
    n.incident_count,
    count(*) over () as waiting
from rota.notifications as n
where
    n.channel = :channel::text
    and (
        (n.state = 'pending' and n.next_at <= :now::timestamptz)
        or (n.state = 'sending' and n.lease_until <= :now::timestamptz)
    )
    and not (
        n.kind in ('opened', 'updated', 'repeated', 'escalated', 'flapping')
        and n.incident_count = cardinality(n.incident_ids)
        and (
            select coalesce(bool_and(i.silenced_until > :now::timestamptz), false)
            from rota.incidents as i
            where i.id = any(n.incident_ids)
        ) is true
    )
order by
    n.kind <> 'test',
    n.severity <> 'page',
    not (
        n.kind = 'resolved'
        and exists (
            select 1 from rota.notifications as o
            where
                o.channel = n.channel
                and o.dedup_key = n.dedup_key
                and o.state in ('sent', 'sending')
        )
    ),
    n.severity <> 'warning',
    n.created_at,
    n.id
limit :most::integer;
