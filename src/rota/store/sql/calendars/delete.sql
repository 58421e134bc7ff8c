-- Delete a calendar.
delete from rota.calendars
where
    tenant_id = :tenant_id::integer
    and name = :name::text
returning
    name,
    body,
    version,
    updated_at;
