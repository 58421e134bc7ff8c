-- Payload and result of finished runs. A run without a payload of its own used its job's.
select
    r.id,
    coalesce(
        r.payload,
        (select d.payload from rota.definition_used(r.job_id, r.job_version) as d)
    ) as payload,
    r.result
from rota.runs as r
where
    r.tenant_id = any(:tenant_ids::integer[])
    and r.id = any(:ids::uuid[]);
