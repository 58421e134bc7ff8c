-- The valid bootstrap admin keys that expire within this time, soonest first.
select
    k.id,
    k.name,
    k.expires_at
from rota.api_keys as k
where
    k.role = 'platform'
    and k.name = any(:names::text[])
    and k.revoked_at is null
    and k.expires_at > rota.now()
    and k.expires_at <= rota.now() + :within::interval
order by k.expires_at;
