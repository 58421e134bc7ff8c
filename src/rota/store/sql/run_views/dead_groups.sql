-- Dead letters of a tenant that ended in a period, grouped by kind and fingerprint
-- (rota.failure_fingerprint), the latest group first, each with the message of its newest. Reads a
-- limited number of the newest; `is_partial` means that there are more. Counting and changing dead
-- letters (requeue/find_dead.sql) uses the same conditions.
with newest as (
    select
        r.id, r.job_id, r.kind_id, r.job_version, r.finished_at, r.reason, r.trigger
    from rota.runs as r
    where
        (r.tenant_id, r.id)
        >= (:tenant_id::integer, '00000000-0000-0000-0000-000000000000'::uuid)
        and (r.tenant_id, r.id)
        <= (:tenant_id::integer, 'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid)
        and r.state in ('dead', 'lost', 'quarantined')
        and r.dropped_at is null
    order by r.tenant_id desc, r.id desc
    limit :look::integer
),

told as materialized (
    select
        n.id,
        -- A submission has no job.
        nullif(n.job_id, n.id) as job_id,
        n.kind_id,
        n.job_version,
        n.finished_at,
        jsonb_build_object(
            'type', coalesce(f.reason ->> 'type', f.reason ->> 'code', ''),
            'message', left(coalesce(f.reason ->> 'message', ''), 300),
            'frame', f.reason ->> 'frame'
        ) as failure
    from newest as n
    -- Read once, and without its traceback, which makes it large.
    cross join lateral (select n.reason - 'traceback' as reason limit 1) as f
    where
        n.finished_at >= :since::timestamptz
        and n.finished_at < :until::timestamptz
        -- The dead letter of a graph is its run, not its steps.
        and n.trigger <> 'graph'
        and (:job_id::uuid is null or n.job_id = :job_id::uuid)
        and (:kind_id::integer is null or n.kind_id = :kind_id::integer)
),

-- Each failure once: most occur in many runs, and the fingerprint is the expensive part.
failures as materialized (
    select
        t.kind_id,
        t.failure,
        count(*) as number,
        array_agg(t.finished_at) as ends,
        array_agg(t.job_id) as job_ids,
        array_agg(t.job_version) as job_versions,
        max(t.finished_at) as last_at,
        (array_agg(t.id order by t.finished_at desc, t.id desc))[1] as sample_id
    from told as t
    group by t.kind_id, t.failure
),

known as materialized (
    select
        f.kind_id, f.failure, f.number, f.ends, f.job_ids, f.job_versions, f.last_at,
        f.sample_id,
        rota.failure_fingerprint(f.failure) as fingerprint
    from failures as f
),

matching as materialized (
    select k.*
    from known as k
    where :fingerprint::text is null or k.fingerprint = :fingerprint::text
),

grouped as materialized (
    select
        m.kind_id,
        m.fingerprint,
        sum(m.number)::bigint as number,
        max(m.last_at) as last_at,
        (array_agg(m.sample_id order by m.last_at desc, m.sample_id desc))[1] as sample_id,
        (array_agg(m.failure order by m.last_at desc, m.sample_id desc))[1] as failure
    from matching as m
    group by m.kind_id, m.fingerprint
    order by max(m.last_at) desc, m.kind_id asc, m.fingerprint asc
    limit :most::integer
),

runs as materialized (
    select
        m.kind_id,
        m.fingerprint,
        u.job_id,
        u.job_version,
        min(u.ended_at) as first_at,
        count(*) as number,
        array_agg(u.ended_at) filter (
            where u.ended_at > :until::timestamptz - interval '24 hours'
        ) as ends
    from matching as m
    cross join unnest(m.ends, m.job_ids, m.job_versions) as u (ended_at, job_id, job_version)
    group by m.kind_id, m.fingerprint, u.job_id, u.job_version
),

-- How many ended in each of the last 24 hours, by hours ago.
hours as (
    select
        h.kind_id,
        h.fingerprint,
        jsonb_object_agg(h.ago, h.number) as ended
    from (
        select
            r.kind_id,
            r.fingerprint,
            floor(extract(epoch from :until::timestamptz - e.ended_at) / 3600)::integer as ago,
            count(*) as number
        from runs as r
        cross join unnest(r.ends) as e (ended_at)
        group by r.kind_id, r.fingerprint, ago
    ) as h
    group by h.kind_id, h.fingerprint
),

-- The jobs and the versions of their definitions. Submissions have no job row and count as one.
defined as materialized (
    select
        r.kind_id,
        r.fingerprint,
        j.id as job_id,
        j.name,
        coalesce(u.number, greatest(r.job_version - j.version_skips, 1)) as definition_version,
        min(r.first_at) as first_at,
        sum(r.number)::bigint as number
    from runs as r
    left join rota.jobs as j on r.job_id = j.id
    left join lateral rota.definition_used(j.id, r.job_version) as u on true
    group by r.kind_id, r.fingerprint, j.id, j.name, definition_version
),

jobs as (
    select
        o.kind_id,
        o.fingerprint,
        count(*) as number,
        min(o.first_at) as first_at,
        jsonb_agg(
            jsonb_build_object('job_id', o.job_id, 'name', o.name, 'count', o.number)
            order by o.place
        ) filter (where o.place <= 5) as most_failed
    from (
        select
            d.kind_id,
            d.fingerprint,
            d.job_id,
            d.name,
            min(d.first_at) as first_at,
            sum(d.number) as number,
            row_number() over (
                partition by d.kind_id, d.fingerprint
                order by sum(d.number) desc, d.job_id asc
            ) as place
        from defined as d
        group by d.kind_id, d.fingerprint, d.job_id, d.name
    ) as o
    group by o.kind_id, o.fingerprint
),

versions as (
    select
        d.kind_id,
        d.fingerprint,
        array_agg(distinct d.definition_version order by d.definition_version) filter (
            where d.definition_version is not null
        ) as seen
    from defined as d
    group by d.kind_id, d.fingerprint
)

select
    coalesce(k.name, '') as kind,
    g.failure ->> 'type' as type,
    g.failure ->> 'message' as message,
    nullif(g.failure ->> 'frame', '') as frame,
    g.fingerprint,
    g.number,
    j.first_at,
    g.last_at,
    h.ended as hours,
    coalesce(v.seen, '{}'::integer[]) as versions,
    j.most_failed as jobs,
    j.number as job_count,
    g.sample_id,
    (select count(*) from newest) >= :look::integer as is_partial
from grouped as g
inner join jobs as j on g.kind_id = j.kind_id and g.fingerprint = j.fingerprint
inner join versions as v on g.kind_id = v.kind_id and g.fingerprint = v.fingerprint
left join hours as h on g.kind_id = h.kind_id and g.fingerprint = h.fingerprint
left join rota.kinds as k on g.kind_id = k.id
order by g.last_at desc, k.name asc, g.fingerprint asc;
