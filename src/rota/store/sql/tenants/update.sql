-- Change the given fields of a tenant.
update rota.tenants
set
    weight = coalesce(:weight::smallint, weight),
    quotas = coalesce(:quotas::jsonb, quotas)
where id = :tenant_id::integer
returning
    id,
    name,
    weight,
    quotas,
    paused_at,
    gate_id,
    created_at;
