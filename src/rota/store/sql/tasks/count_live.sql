-- How many runs of a tenant wait, run and are scheduled, by kind. Reads a limited number of waiting
-- and of scheduled rows.
select
    c.kind_id,
    count(*) filter (where c.stage = 'waiting') as waiting,
    count(*) filter (where c.stage = 'running') as running,
    count(*) filter (where c.stage = 'scheduled') as scheduled
from (
    select
        w.kind_id,
        'waiting' as stage
    from (
        select l.kind_id
        from rota.tenant_queues as tq
        cross join
            lateral (
                select r.kind_id
                from rota.live_runs as r
                where
                    r.state in ('queued', 'retrying')
                    and r.gates is null
                    and r.queue_id = tq.queue_id
                    and r.tenant_id = :tenant_id::integer
                union all
                select r.kind_id
                from rota.live_runs as r
                where
                    r.state in ('queued', 'retrying')
                    and r.gates is not null
                    and r.queue_id = tq.queue_id
                    and r.tenant_id = :tenant_id::integer
            ) as l
        where tq.tenant_id = :tenant_id::integer
        limit :most::integer
    ) as w
    union all
    select
        h.kind_id,
        'running' as stage
    from rota.live_runs as h
    where
        h.state in ('running', 'cancelling')
        and h.tenant_id = :tenant_id::integer
    union all
    select
        s.kind_id,
        'scheduled' as stage
    from (
        select f.kind_id
        from rota.scheduled_runs as f
        where f.tenant_id = :tenant_id::integer
        limit :most::integer
    ) as s
) as c
group by c.kind_id
order by c.kind_id;
