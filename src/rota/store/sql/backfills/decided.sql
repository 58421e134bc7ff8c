-- The first tick of a job that its scheduler has yet to decide; no row if it has none to come. Not
-- locked: the cursor only moves on, and what it leaves behind is decided.
select c.tick_at
from rota.cursors as c
where c.job_id = :job_id::uuid;
