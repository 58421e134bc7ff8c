-- Create a tenant, unless its name is in use.
insert into rota.tenants (name, weight, quotas)
values (:name::text, :weight::smallint, :quotas::jsonb)
on conflict (name) do nothing
returning
    id,
    name,
    weight,
    quotas,
    paused_at,
    gate_id,
    created_at;
