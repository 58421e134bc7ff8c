-- The position of a job in its schedule. Locked: a concurrent tick is decided before this, or
-- afterwards finds another version.
select
    c.tick_at,
    c.fire_at,
    c.fired,
    c.schedule_id
from rota.cursors as c
where c.job_id = :id::uuid
for update;
