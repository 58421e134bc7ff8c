-- The positions of jobs in their schedules, for a caller that has locked the jobs. A concurrent
-- tick is decided before this, or afterwards finds another version.
select
    c.job_id,
    c.tick_at,
    c.fire_at,
    c.fired,
    c.schedule_id
from rota.cursors as c
where c.job_id = any(:job_ids::uuid[])
order by c.job_id
for update;
