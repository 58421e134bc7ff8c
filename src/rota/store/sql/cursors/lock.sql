-- Where jobs stand in their schedules; for a caller who has locked the jobs. A tick of them is
-- decided before this or after what comes of it, and then it finds another version.
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
