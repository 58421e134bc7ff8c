-- Create a hook, unless the tenant has another of this name.
insert into rota.hooks (id, tenant_id, name, type, style, key_id, ciphertext)
values (
    :id::uuid,
    :tenant_id::integer,
    :name::text,
    :type::text,
    :style::text,
    :key_id::text,
    :ciphertext::bytea
)
on conflict (tenant_id, name) do nothing
returning id, name, type, style, version, created_at, used_at;
