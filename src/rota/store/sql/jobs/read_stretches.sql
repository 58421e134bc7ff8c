-- The backlog that a paused job keeps for its resumption; the caller has locked the job.
select j.paused_stretches as stretches
from rota.jobs as j
where
    j.id = :id::uuid
    and j.paused_stretches is not null;
