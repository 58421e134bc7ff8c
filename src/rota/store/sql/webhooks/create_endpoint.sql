-- Create an endpoint, unless the tenant has another of this name.
insert into rota.webhook_endpoints (
    id, tenant_id, name, url, events, filter, include, format, allow_http, key_id, ciphertext,
    created_by
)
values (
    :id::uuid,
    :tenant_id::integer,
    :name::text,
    :url::text,
    :events::text[],
    :filter::jsonb,
    :include::text[],
    :format::text,
    :allow_http::boolean,
    :key_id::text,
    :ciphertext::bytea,
    :created_by::text
)
on conflict (tenant_id, name) do nothing
returning id;
