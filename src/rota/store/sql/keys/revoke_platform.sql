-- Revoke all valid bootstrap admin keys except this one.
update rota.api_keys
set revoked_at = rota.now()
where
    role = 'platform'
    and name = any(:names::text[])
    and id <> :kept_id::uuid
    and revoked_at is null
returning id;
