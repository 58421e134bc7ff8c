-- The payloads of jobs, for runs that carry none of their own.
select
    j.id,
    j.version,
    j.payload
from rota.jobs as j
where j.id = any(:ids::uuid[]);
