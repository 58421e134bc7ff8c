-- Matching events of a tenant, oldest first, after an id.
select
    e.id,
    e.type,
    e.source,
    e.received_at,
    e.body,
    e.matches
from rota.events as e
where
    e.tenant_id = :tenant_id::integer
    and e.id < :before::uuid
    and e.id >= :from_id::uuid
    and e.id > :after::uuid
    and (:type::text is null or e.type = :type::text)
    and (:source::text is null or e.source = :source::text)
order by e.id
limit :most::integer;
