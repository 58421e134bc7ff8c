-- Count matching events of a tenant, up to `most`.
select count(*) as number
from (
    select 1
    from rota.events as e
    where
        e.tenant_id = :tenant_id::integer
        and e.id < :before::uuid
        and e.id >= :from_id::uuid
        and (:type::text is null or e.type = :type::text)
        and (:source::text is null or e.source = :source::text)
    limit :most::integer
) as found;
