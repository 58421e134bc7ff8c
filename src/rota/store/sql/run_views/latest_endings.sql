-- The runs that ended after a time, oldest first, with the names of their jobs: those of a range of
-- ids, and per tenant those that ended more than an hour after the time in their ids.
with ended as (
    select u.*
    from rota.runs as u
    where
        u.id >= :from_id::uuid
        and u.finished_at > :since::timestamptz
    union all
    select late.*
    from rota.tenants as t
    cross join
        lateral (
            select u.*
            from rota.runs as u
            where
                u.tenant_id = t.id
                and u.id < :from_id::uuid
                and u.finished_at > :since::timestamptz
                and u.finished_at - least(u.scheduled_at, u.created_at) > interval '1 hour'
            order by u.finished_at
            limit :most::integer
        ) as late
)

select
    coalesce(e.name, j.name, k.name) as name,
    e.state,
    e.attempt,
    e.started_at,
    e.finished_at,
    e.reason
from ended as e
left join rota.jobs as j on e.job_id = j.id
left join rota.kinds as k on e.kind_id = k.id
order by e.finished_at
limit :most::integer;
