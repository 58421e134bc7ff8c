-- Release shards, so that another scheduler can take them at once.
update rota.shards as s
set expires_at = rota.now()
where
    s.id = any(:shards::smallint[])
    and s.owner = :owner::uuid
    and s.expires_at > rota.now()
returning s.id;
