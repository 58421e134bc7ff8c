-- Insert a secret, or its next version. The ciphertext is a parameter twice instead of a reference
-- to `excluded`, which would require the right to read the column.
insert into rota.secrets as s (tenant_id, name, version, key_id, ciphertext, updated_at)
values (
    :tenant_id::integer,
    :name::text,
    :version::integer,
    :key_id::text,
    :ciphertext::bytea,
    rota.now()
)
on conflict (tenant_id, name) do update
    set
        version = excluded.version,
        key_id = :key_id::text,
        ciphertext = :ciphertext::bytea,
        updated_at = excluded.updated_at
    where s.version = excluded.version - 1
returning name, version, updated_at;
