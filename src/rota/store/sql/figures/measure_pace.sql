-- How many of the newest runs of a tenant ended since a time, and when the first of them did. Runs
-- lie by the time in their ids, so those that are due no longer ago than `from_id` are looked at.
with newest as (
    select r.finished_at
    from rota.runs as r
    where
        r.tenant_id = :tenant_id::integer
        and r.id >= :from_id::uuid
    order by r.id desc
    limit :most::integer
)

select
    count(*) as looked_at,
    count(*) filter (where n.finished_at > :since::timestamptz) as ended,
    min(n.finished_at) filter (where n.finished_at > :since::timestamptz) as first_at
from newest as n;
