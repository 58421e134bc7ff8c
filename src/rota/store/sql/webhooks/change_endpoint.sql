-- Change the subscription of an endpoint. No row: it changed meanwhile.
update rota.webhook_endpoints as e
set
    name = :name::text,
    url = :url::text,
    events = :events::text[],
    filter = :filter::jsonb,
    include = :include::text[],
    format = :format::text,
    allow_http = :allow_http::boolean,
    -- Another URL starts with a clean record.
    failures = case when e.url = :url::text then e.failures else 0 end,
    failing_since = case when e.url = :url::text then e.failing_since end,
    probe_at = case when e.url = :url::text then e.probe_at end,
    version = e.version + 1,
    updated_at = rota.now()
where
    e.id = :id::uuid
    and e.tenant_id = :tenant_id::integer
    and e.version = :version::integer
    and not exists (
        select from rota.webhook_endpoints as o
        where
            o.tenant_id = :tenant_id::integer
            and o.name = :name::text
            and o.id <> :id::uuid
    )
returning e.id;
