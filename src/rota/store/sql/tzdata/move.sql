-- Move cursors to their ticks under other time zone rules, and raise the versions of jobs and
-- cursors, so that earlier computations of schedulers become void. A cursor that is no longer where
-- it was read stays; a paused job stays paused.
with places as (
    select
        n.job_id,
        n.tick_at,
        n.next_tick_at,
        n.next_fire_at
    from
        unnest(
            :job_ids::uuid[],
            :tick_ats::timestamptz[],
            :next_tick_ats::timestamptz[],
            :next_fire_ats::timestamptz[]
        ) as n (job_id, tick_at, next_tick_at, next_fire_at)
),

changed as (
    update rota.jobs as j
    set
        version = j.version + 1,
        updated_at = rota.now()
    from places as p
    inner join rota.cursors as c on p.job_id = c.job_id and p.tick_at = c.tick_at
    where
        j.id = p.job_id
        and j.state in ('active', 'paused')
    returning j.id, j.version, p.next_tick_at, p.next_fire_at
)

update rota.cursors as c
set
    tick_at = j.next_tick_at,
    fire_at = case when c.fire_at is not null then j.next_fire_at end,
    version = j.version
from changed as j
where c.job_id = j.id
returning c.job_id;
