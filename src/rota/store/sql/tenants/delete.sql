-- Delete a tenant with its keys, secrets, calendars and hooks. Its history and its audit log stay.
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

backfill_runs as (
    delete from rota.backfill_runs
    where tenant_id = :tenant_id::integer
),

backfills as (
    delete from rota.backfills
    where tenant_id = :tenant_id::integer
),

sources as (
    delete from rota.sources
    where tenant_id = :tenant_id::integer
),

gates as (
    delete from rota.gates
    where tenant_id = :tenant_id::integer
),

hooks as (
    delete from rota.hooks
    where tenant_id = :tenant_id::integer
),

event_keys as (
    delete from rota.event_keys
    where tenant_id = :tenant_id::integer
)

delete from rota.tenants
where id = :tenant_id::integer
returning id;
