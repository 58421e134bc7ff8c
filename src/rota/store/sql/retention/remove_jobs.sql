-- Remove jobs that were deleted, and one-time jobs that have ended, before a time, once they have
-- no runs left. Examines a limited number of the oldest.
with looked as materialized (
    select
        j.id,
        j.state
    from rota.jobs as j
    where
        (
            j.state = 'deleted'
            and j.updated_at < :deleted_before::timestamptz
        )
        or (
            j.state = 'finished'
            and j.updated_at < :ended_before::timestamptz
            and j.schedule ?| array['at', 'immediate']
            and not j.schedule ?| array['cron', 'every', 'rrule', 'fixed_delay', 'event']
        )
    order by j.updated_at
    limit :look::integer
    for update skip locked
),

old as materialized (
    select l.id
    from looked as l
    where
        not exists (
            select 1 from rota.runs as r
            where
                r.job_id = l.id
                and r.trigger <> 'graph'
        )
        and not exists (
            select 1 from rota.live_runs as v
            where v.job_id = l.id
        )
        and not exists (
            select 1 from rota.cursors as c
            where c.job_id = l.id
        )
        and not exists (
            select 1 from rota.backfills as b
            where b.job_id = l.id
        )
    limit :most::integer
),

types as (
    delete from rota.event_types as t
    where t.job_id = any(array(select o.id from old as o))
),

piles as (
    delete from rota.event_piles as p
    where p.job_id = any(array(select o.id from old as o))
),

versions as (
    delete from rota.job_versions as v
    where v.job_id = any(array(select o.id from old as o))
)

delete from rota.jobs as j
where j.id = any(array(select o.id from old as o))
returning j.id;
