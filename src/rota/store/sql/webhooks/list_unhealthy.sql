-- Endpoints of all tenants that are failing, or that Rota has disabled.
select
    e.id,
    e.tenant_id,
    e.name,
    e.state,
    e.disabled_reason,
    e.disabled_at,
    e.failures,
    e.failing_since,
    e.last_success_at,
    e.last_error
from rota.webhook_endpoints as e
where
    e.failures >= :failing_after::integer
    or e.disabled_reason in ('gone', 'failing')
order by e.tenant_id, e.name;
