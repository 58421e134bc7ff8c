-- Dead letters of a tenant that ended since a time, those of one job and alike failure together,
-- the group that was seen last first. Messages are alike if they differ in numbers only: runs of
-- digits and words of hexadecimal digits are shown as #. At most 5,000 of the newest are looked at.
with newest as (
    select
        r.id, r.job_id, r.finished_at, r.reason, r.trigger
    from rota.runs as r
    where
        (r.tenant_id, r.id) >= (:tenant_id::integer, :from_id::uuid)
        and (r.id, r.tenant_id) >= (:from_id::uuid, :tenant_id::integer)
        and (r.tenant_id, r.id)
        <= (:tenant_id::integer, 'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid)
        and r.state in ('dead', 'lost', 'quarantined')
        and r.dropped_at is null
    order by r.tenant_id desc, r.id desc
    limit 5000
),

told as materialized (
    select
        n.id,
        n.job_id,
        n.finished_at,
        coalesce(n.reason ->> 'type', n.reason ->> 'code', '') as type,
        left(coalesce(n.reason ->> 'message', ''), 300) as message
    from newest as n
    where
        n.finished_at >= :since::timestamptz
        -- The dead letter of a graph is its run, not its steps.
        and n.trigger <> 'graph'
),

-- Each message once: most are said by many, and this is what takes the time.
shown as materialized (
    select
        d.message,
        regexp_replace(
            d.message,
            '[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}'
            || '|\m0x[0-9a-f]+|\m[0-9a-f]{8,}\M|\m[0-9a-f]*[0-9][0-9a-f]*\M|[0-9]+',
            '#',
            'gi'
        ) as alike
    from (select distinct t.message from told as t) as d
),

alike as (
    select
        t.id,
        t.job_id,
        t.finished_at,
        t.type,
        s.alike as message
    from told as t
    inner join shown as s on t.message = s.message
),

grouped as (
    select
        a.job_id,
        a.type,
        a.message,
        count(*) as number,
        min(a.finished_at) as first_at,
        max(a.finished_at) as last_at,
        (array_agg(a.id order by a.id desc))[1] as sample_id
    from alike as a
    group by a.job_id, a.type, a.message
    order by max(a.finished_at) desc, a.job_id asc, a.type asc, a.message asc
    limit :most::integer
)

select
    g.job_id,
    j.name as job,
    g.type,
    g.message,
    g.number,
    g.first_at,
    g.last_at,
    g.sample_id
from grouped as g
left join rota.jobs as j on g.job_id = j.id
order by g.last_at desc, g.job_id asc, g.type asc, g.message asc;
