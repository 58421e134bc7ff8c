-- Silences of a tenant, latest end first; ended ones only if asked for.
select
    s.id,
    s.tenant_id,
    s.match,
    s.starts_at,
    s.ends_at,
    s.calendar,
    s.reason,
    s.created_by,
    s.created_at,
    s.ended_by
from rota.silences as s
where
    s.tenant_id = :tenant_id::integer
    and (:with_ended::boolean or s.ends_at > :now::timestamptz)
    and (
        :before_at::timestamptz is null
        or (s.ends_at, s.id) < (:before_at::timestamptz, :before_id::uuid)
    )
order by s.ends_at desc, s.id desc
limit :most::integer;
