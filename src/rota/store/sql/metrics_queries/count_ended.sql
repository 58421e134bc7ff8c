-- The newest runs of all tenants that ended since a time: how many ended in each state. A limited
-- sample by id, and per tenant as many of those that ended more than an hour after the time in
-- their ids.
with newest as (
    (
        select
            u.state,
            u.finished_at
        from rota.runs as u
        where u.id >= :from_id::uuid
        order by u.id desc
        limit :most::integer
    )
    union all
    select late.*
    from rota.tenants as t
    cross join
        lateral (
            select
                u.state,
                u.finished_at
            from rota.runs as u
            where
                u.tenant_id = t.id
                and u.id < :from_id::uuid
                and u.finished_at >= :since::timestamptz
                and u.finished_at - least(u.scheduled_at, u.created_at) > interval '1 hour'
            order by u.finished_at desc
            limit :most::integer
        ) as late
)

select
    n.state,
    count(*) as number
from newest as n
where n.finished_at >= :since::timestamptz
group by n.state
order by n.state;
