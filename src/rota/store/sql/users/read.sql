-- One user, if a job or a key names it.
select
    :user_id::text as user_id,
    (
        select count(*)
        from (
            select 1
            from rota.jobs as j
            where
                j.tenant_id = :tenant_id::integer
                and j.user_id = :user_id::text
                and j.state <> 'deleted'
            limit :counted::integer
        ) as found
    ) as jobs,
    (
        select count(*)
        from rota.api_keys as k
        where
            k.tenant_id = :tenant_id::integer
            and k.user_id = :user_id::text
            and k.revoked_at is null
            and (k.expires_at is null or k.expires_at > rota.now())
    ) as keys
where
    exists (
        select 1
        from rota.jobs as j
        where j.tenant_id = :tenant_id::integer and j.user_id = :user_id::text
    )
    or exists (
        select 1
        from rota.api_keys as k
        where k.tenant_id = :tenant_id::integer and k.user_id = :user_id::text
    );
