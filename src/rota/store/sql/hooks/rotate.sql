-- Replace the secret of a hook that the caller has locked; the previous one stays valid for a
-- while.
update rota.hooks as h
set
    version = h.version + 1,
    key_id = :key_id::text,
    ciphertext = :ciphertext::bytea,
    former = case when h.key_id = :key_id::text then h.ciphertext end,
    former_until = rota.now() + :former_for::interval
where
    h.id = :id::uuid
    and h.version = :version::integer
returning h.id, h.name, h.type, h.style, h.version, h.created_at, h.used_at;
