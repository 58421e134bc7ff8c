-- Events of one source, optionally of one type, newest first, between two ids.
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
    and e.source = :source::text
    and (:type::text is null or e.type = :type::text)
    and e.id < :before::uuid
    and e.id >= :from_id::uuid
order by e.id desc
limit :most::integer;
