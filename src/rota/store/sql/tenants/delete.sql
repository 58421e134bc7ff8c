-- Delete a tenant with its keys, secrets and calendars. Its history and its audit log stay.
with keys as (
    delete from rota.api_keys
    where tenant_id = :tenant_id::integer
),

secrets as (
    delete from rota.secrets
    where tenant_id = :tenant_id::integer
),

calendars as (
    delete from rota.calendars
    where tenant_id = :tenant_id::integer
),

idempotency as (
    delete from rota.idempotency
    where tenant_id = :tenant_id::integer
),

gates as (
    delete from rota.gates
    where tenant_id = :tenant_id::integer
)

delete from rota.tenants
where id = :tenant_id::integer
returning id;
