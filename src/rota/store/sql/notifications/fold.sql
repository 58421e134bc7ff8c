-- Count waiting messages of a channel in a digest instead of sending them. Recoveries of incidents
-- that the channel knows from a message of their own are sent: receivers would stay open.
update rota.notifications as n
set
    state = 'digested',
    digest_id = :digest_id::uuid,
    next_at = null,
    lease_until = null
where
    n.channel = :channel::text
    and (
        (n.state = 'pending' and n.next_at <= :now::timestamptz)
        or (n.state = 'sending' and n.lease_until <= :now::timestamptz)
    )
    and n.kind not in ('test', 'digest')
    and (n.severity <> 'page' or :with_pages::boolean)
    and not (
        n.kind = 'resolved'
        and exists (
            select 1 from rota.notifications as o
            where
                o.channel = n.channel
                and o.dedup_key = n.dedup_key
                and o.state in ('sent', 'sending')
        )
    )
returning n.id, n.tenant_id, n.group_id, n.severity, n.kind, n.incident_count, n.content;
