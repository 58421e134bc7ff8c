-- Lock the ended runs of one-time jobs. Whoever brings one of them back is waited for, and the next
-- statement sees that it lives; whoever comes later finds what the job said in the run.
select r.id
from rota.runs as r
where r.job_id = any(:job_ids::uuid[])
order by r.id
for update;
