-- The endpoints of a tenant by name, without their secrets.
select
    e.id,
    e.tenant_id,
    e.name,
    e.url,
    e.events,
    e.filter,
    e.include,
    e.format,
    e.allow_http,
    e.state,
    e.disabled_reason,
    e.disabled_at,
    e.version,
    e.secret_version,
    e.failures,
    e.failing_since,
    e.last_success_at,
    e.last_failure_at,
    e.last_error,
    e.created_at,
    e.created_by,
    e.updated_at,
    case when e.former_until > rota.now() then e.former_until end as former_until,
    (
        select count(*)
        from (
            select 1 as one
            from rota.webhook_deliveries as d
            where
                d.endpoint_id = e.id
                and d.state = 'pending'
            limit 100001
        ) as waiting
    ) as pending
from rota.webhook_endpoints as e
where
    e.tenant_id = :tenant_id::integer
    and e.name > :after::text
order by e.name
limit :most::integer;
