-- End a silence now; one that has not begun never does.
update rota.silences as s
set
    ends_at = greatest(:now::timestamptz, s.starts_at),
    starts_at = least(:now::timestamptz, s.starts_at),
    ended_by = :by::text
where
    s.id = :id::uuid
    and s.tenant_id = :tenant_id::integer
    and s.ends_at > :now::timestamptz
returning
    s.id,
    s.tenant_id,
    s.match,
    s.starts_at,
    s.ends_at,
    s.calendar,
    s.reason,
    s.created_by,
    s.created_at,
    s.ended_by;
