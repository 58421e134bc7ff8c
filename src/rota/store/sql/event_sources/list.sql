-- The sources of a tenant, with their current readers.
select
    s.name,
    s.kind,
    case when s.expires_at > rota.now() then s.reader end as reader,
    s.position,
    s.lag,
    s.taken,
    s.refused,
    s.read_at,
    s.taken_at,
    s.failures,
    s.error,
    s.error_at
from rota.sources as s
where s.tenant_id = :tenant_id::integer
order by s.name
limit :most::integer;
