-- Create a calendar, unless its name is in use.
insert into rota.calendars (tenant_id, name, body, updated_at)
values (:tenant_id::integer, :name::text, :body::jsonb, rota.now())
on conflict (tenant_id, name) do nothing
returning
    name,
    body,
    version,
    updated_at;
