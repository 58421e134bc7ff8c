-- The first tick of a job that its scheduler has not decided; no row without future ticks. Not
-- locked: the cursor only moves forward, and all ticks before it are decided.
select c.tick_at
from rota.cursors as c
where c.job_id = :job_id::uuid;
