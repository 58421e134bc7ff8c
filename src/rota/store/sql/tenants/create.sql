-- Make a tenant, unless its name is taken.
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
