-- Where a job stands in its schedule. Locked: a tick of it is decided before this or after what
-- comes of it, and then it finds another version.
select
    c.tick_at,
    c.fire_at,
    c.fired,
    c.schedule_id
from rota.cursors as c
where c.job_id = :id::uuid
for update;
