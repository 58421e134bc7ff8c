-- Move the cursors of active jobs to other ticks and raise the versions of both, so that earlier
-- computations become void. A job without a next tick is finished. The caller has locked jobs and
-- cursors.
with places as (
    select
        n.job_id,
        n.tick_at,
        n.fire_at,
        n.schedule_id
    from
        unnest(
            :job_ids::uuid[],
            :tick_ats::timestamptz[],
            :fire_ats::timestamptz[],
            :schedule_ids::integer[]
        ) as n (job_id, tick_at, fire_at, schedule_id)
),

changed as (
    update rota.jobs as j
    set
        state = case when p.tick_at is null then 'finished' else j.state end,
        version = j.version + 1,
        version_skips = j.version_skips + 1,
        updated_at = rota.now()
    from places as p
    where
        j.id = p.job_id
        and j.state = 'active'
    returning j.id, j.version
),

moved as (
    update rota.cursors as c
    set
        tick_at = p.tick_at,
        fire_at = p.fire_at,
        schedule_id = p.schedule_id,
        version = j.version
    from changed as j
    inner join places as p on j.id = p.job_id
    where
        c.job_id = j.id
        and p.tick_at is not null
),

gone as (
    delete from rota.cursors as c
    using changed as j
    inner join places as p on j.id = p.job_id
    where
        c.job_id = j.id
        and p.tick_at is null
)

select j.id as job_id from changed as j;
