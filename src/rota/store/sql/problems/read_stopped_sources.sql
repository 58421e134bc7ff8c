-- Event sources that fail, or that no process has read for longer than `grace`.
select
    s.name as source,
    s.kind,
    t.name as tenant,
    s.failures,
    s.error,
    coalesce(s.error_at, s.expires_at) as since,
    s.expires_at > rota.now() as is_read
from rota.sources as s
inner join rota.tenants as t on s.tenant_id = t.id
where
    (:tenant_id::integer is null or s.tenant_id = :tenant_id::integer)
    and (s.failures > 0 or s.expires_at < rota.now() - :grace::interval)
order by since
limit :most::integer;
