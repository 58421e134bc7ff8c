-- Workers whose lease ended while they held runs: those runs are reclaimed shortly. With a tenant,
-- only its runs count.
select
    s.name as worker,
    s.expires_at,
    held.number as runs
from rota.sessions as s
inner join (
    select
        l.session_id,
        count(*) as number
    from rota.live_runs as l
    where
        l.state in ('running', 'cancelling')
        and (:tenant_id::integer is null or l.tenant_id = :tenant_id::integer)
    group by l.session_id
) as held on s.id = held.session_id
where
    s.role = 'worker'
    and s.expires_at <= rota.now()
order by s.expires_at
limit :most::integer;
