-- Take a free source, or renew the lease of its reader. No row: another process reads it. The epoch
-- rises when the owner changes, and an expired lease of the same owner counts as a change. The
-- position is discarded if the kind under this name has changed.
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
