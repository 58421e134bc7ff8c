-- Replace a calendar if it still has the version that the caller saw.
update rota.calendars
set
    body = :body::jsonb,
    version = version + 1,
    updated_at = rota.now()
where
    tenant_id = :tenant_id::integer
    and name = :name::text
    and version = :version::integer
returning
    name,
    body,
    version,
    updated_at;
