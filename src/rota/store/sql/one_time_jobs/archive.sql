-- Remove one-time jobs whose runs have all ended, and copy the fields of the job into its runs,
-- which are submissions from now on. A name that Rota had generated is dropped.
with removed as (
    delete from rota.jobs as j
    where
        j.id = any(:job_ids::uuid[])
        and j.state in ('active', 'finished')
        and not exists (
            select 1 from rota.cursors as c
            where c.job_id = j.id
        )
        and not exists (
            select 1 from rota.live_runs as l
            where l.job_id = j.id
        )
    returning j.*
),

named as (
    select
        r.id,
        r.labels,
        r.user_id,
        r.payload,
        case
            when
                r.name = left(k.name, 160) || ' ' || right(r.name, 8)
                and right(r.name, 8) ~ '^[0-9a-f]{8}$'
                and right(r.name, 8) ~ '[a-f]'
                then null
            else r.name
        end as name
    from removed as r
    left join rota.kinds as k on r.kind_id = k.id
),

told as (
    update rota.runs as r
    set
        name = j.name,
        labels = nullif(j.labels, '{}'),
        user_id = j.user_id,
        payload = coalesce(r.payload, j.payload)
    from named as j
    where
        r.job_id = j.id
        and r.job_id = any(:job_ids::uuid[])
        and r.trigger <> 'graph'
)

select r.id from removed as r;
