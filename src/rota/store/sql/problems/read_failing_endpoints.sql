-- Webhook endpoints that Rota disabled, or whose last attempts failed. One that a user disabled is
-- no problem.
select
    e.id,
    e.name,
    e.state,
    coalesce(e.disabled_reason, '') as disabled_reason,
    e.failures,
    coalesce(e.disabled_at, e.failing_since) as since,
    e.last_error
from rota.webhook_endpoints as e
where
    (:tenant_id::integer is null or e.tenant_id = :tenant_id::integer)
    and (
        (e.state = 'disabled' and e.disabled_reason in ('gone', 'failing'))
        or (e.state = 'enabled' and e.failures >= :failures::integer)
    )
order by since
limit :most::integer;
