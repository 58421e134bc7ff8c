-- Insert a login or a ticket, which ends with its key at the latest. The rights of the key are not
-- stored: they are read with it each time.
insert into rota.logins (digest, key_id, is_ticket, created_at, expires_at)
select
    :digest::bytea,
    k.id,
    :is_ticket::boolean,
    rota.now(),
    least(rota.now() + :lifetime::interval, k.expires_at)
from rota.api_keys as k
where
    k.id = :key_id::uuid
    and k.revoked_at is null
    and (k.expires_at is null or k.expires_at > rota.now())
returning expires_at;
