-- How many ticks of a long range have an unfinished run; of the others, how many succeeded and how
-- many failed. Reads the newest runs of the job there, up to a bound; runs beyond it count as
-- missing.
with found as (
    (
        select
            r.scheduled_at,
            case
                when r.state = 'succeeded' then 1
                when r.state in ('dead', 'lost', 'quarantined', 'expired') then 2
                else 3
            end as standing
        from rota.runs as r
        where
            r.tenant_id = :tenant_id::integer
            and r.job_id = :job_id::uuid
            and r.id >= :low::uuid
            and r.id < :high::uuid
            and r.trigger in ('tick', 'backfill')
        order by r.id desc
        limit :most::integer
    )
    union all
    select
        l.scheduled_at,
        0 as standing
    from rota.live_runs as l
    where
        l.tenant_id = :tenant_id::integer
        and l.job_id = :job_id::uuid
        and l.state in ('blocked', 'queued', 'retrying')
        and l.id >= :low::uuid
        and l.id < :high::uuid
        and l.trigger in ('tick', 'backfill')
    union all
    select
        l.scheduled_at,
        0 as standing
    from rota.live_runs as l
    where
        l.tenant_id = :tenant_id::integer
        and l.job_id = :job_id::uuid
        and l.state in ('running', 'cancelling')
        and l.id >= :low::uuid
        and l.id < :high::uuid
        and l.trigger in ('tick', 'backfill')
),

best as (
    select min(f.standing) as standing
    from found as f
    group by f.scheduled_at
)

select
    count(*) filter (where b.standing = 0) as alive,
    count(*) filter (where b.standing = 1) as ran,
    count(*) filter (where b.standing = 2) as failed
from best as b;
