-- Lock the ended runs of one-time jobs. This waits for a transaction that requeues one of them, and
-- the next statement sees it; a later one finds the job's fields in the run.
select r.id
from rota.runs as r
where r.job_id = any(:job_ids::uuid[])
order by r.id
for update;
