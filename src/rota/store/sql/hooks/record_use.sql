-- Record that a hook was used, at most once a minute.
update rota.hooks as h
set used_at = rota.now()
where
    h.id = :id::uuid
    and (h.used_at is null or h.used_at < rota.now() - interval '1 minute')
returning h.id;
