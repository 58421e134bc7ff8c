-- Delete a hook with its secrets.
delete from rota.hooks as h
where
    h.id = :id::uuid
    and h.tenant_id = :tenant_id::integer
returning h.id, h.name, h.type, h.style, h.version, h.created_at, h.used_at;
