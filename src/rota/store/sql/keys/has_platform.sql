-- Whether there is a valid platform key, in any tenant.
select exists(
    select 1 from rota.api_keys as k
    where
        k.role = 'platform'
        and k.revoked_at is null
        and (k.expires_at is null or k.expires_at > rota.now())
) as found;
