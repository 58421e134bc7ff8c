-- Changes in a tenant, latest first, before `before_id`.
select
    a.id,
    a.at,
    a.actor,
    a.key_id,
    a.source,
    a.action,
    a.thing,
    a.thing_id,
    a.before,
    a.after,
    a.request_id,
    a.origin
from rota.audit as a
where
    a.tenant_id = :tenant_id::integer
    and a.id < :before_id::bigint
    and (:thing::text is null or a.thing = :thing::text)
    and (:thing_id::text is null or a.thing_id = :thing_id::text)
    and (:actor::text is null or a.actor = :actor::text)
    and (:actions::text[] is null or a.action = any(:actions::text[]))
    and (:since::timestamptz is null or a.at >= :since::timestamptz)
    and (:until::timestamptz is null or a.at < :until::timestamptz)
order by a.id desc
limit :most::integer;
