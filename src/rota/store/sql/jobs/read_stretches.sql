-- What a paused job keeps for its resumption; for a caller who has locked the job.
select j.paused_stretches as stretches
from rota.jobs as j
where
    j.id = :id::uuid
    and j.paused_stretches is not null;
