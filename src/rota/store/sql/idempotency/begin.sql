-- Take a key for this request, if it is new or too old to count. Whoever has the same key in an
-- open transaction is waited for, but only for a second: the limit is set before the row is
-- written, and what it was before is set again after it.
with patience as materialized (
    select
        current_setting('lock_timeout') as before,
        set_config('lock_timeout', :patience::text, true) as now
)

insert into rota.idempotency as i (tenant_id, scope, key, fingerprint, created_at)
select
    :tenant_id::integer,
    :scope::text,
    :key::text,
    :fingerprint::bytea,
    rota.now()
from patience as p
where p.now is not null
on conflict (tenant_id, scope, key) do update
    set
        fingerprint = excluded.fingerprint,
        status = null,
        body = null,
        created_at = excluded.created_at
    where i.created_at <= excluded.created_at - :keep::interval
returning set_config('lock_timeout', (select p.before from patience as p), true) as patience;
