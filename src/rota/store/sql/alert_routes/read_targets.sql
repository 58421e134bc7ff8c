-- Names that the alerts of a tenant may report to: its routes, and the channels that it may use.
select
    r.name,
    true as is_route
from rota.alert_routes as r
where r.tenant_id = :tenant_id::integer
union all
select
    c.name,
    false as is_route
from rota.alert_channels as c
where
    '*' = any(c.tenants)
    or (
        select t.name
        from rota.tenants as t
        where t.id = :tenant_id::integer
    ) = any(c.tenants);
