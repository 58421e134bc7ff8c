-- Take a key for this request, if it is new or expired. Waits at most a second for another open
-- transaction with the same key: the lock timeout is set before the row is written and restored
-- afterwards.
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
