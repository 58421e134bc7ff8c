-- How many runs of a tenant ended since a time, and when the first of them did: a limited number of
-- the newest by id, and of those that ended more than an hour after the time in their ids.
with newest as (
    (
        select u.finished_at
        from rota.runs as u
        where
            u.tenant_id = :tenant_id::integer
            and u.id >= :from_id::uuid
        order by u.id desc
        limit :most::integer
    )
    union all
    (
        select u.finished_at
        from rota.runs as u
        where
            u.tenant_id = :tenant_id::integer
            and u.id < :from_id::uuid
            and u.finished_at > :since::timestamptz
            and u.finished_at - least(u.scheduled_at, u.created_at) > interval '1 hour'
        order by u.finished_at desc
        limit :most::integer
    )
)

select
    count(*) as looked_at,
    count(*) filter (where n.finished_at > :since::timestamptz) as ended,
    min(n.finished_at) filter (where n.finished_at > :since::timestamptz) as first_at
from newest as n;
