-- Take a source that nobody reads, or renew it for whoever does. No row back: another reads it. The
-- epoch rises when the owner changes, and an expired lease of our own counts as a change. Another
-- kind under the same name cannot understand the position.
insert into rota.sources as s (tenant_id, name, kind, owner, reader, expires_at)
values (
    :tenant_id::integer,
    :name::text,
    :kind::text,
    :owner::uuid,
    :reader::text,
    rota.now() + :ttl::interval
)
on conflict (tenant_id, name) do update
    set
        kind = excluded.kind,
        position = case when s.kind = excluded.kind then s.position end,
        owner = excluded.owner,
        reader = excluded.reader,
        epoch = s.epoch
        + (s.owner <> excluded.owner or s.expires_at <= rota.now())::integer,
        expires_at = excluded.expires_at
    where s.expires_at <= rota.now() or s.owner = excluded.owner
returning s.epoch, s.position;
