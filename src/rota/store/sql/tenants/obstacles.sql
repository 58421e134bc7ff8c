-- Resources of a tenant that prevent its deletion.
select
    exists(
        select 1 from rota.jobs as j
        where
            j.tenant_id = :tenant_id::integer
            and j.state <> 'deleted'
    ) as has_jobs,
    (
        exists (
            select 1 from rota.live_runs as r
            where r.tenant_id = :tenant_id::integer
        )
        or exists (
            select 1 from rota.scheduled_runs as s
            where s.tenant_id = :tenant_id::integer
        )
    ) as has_runs,
    exists(
        select 1 from rota.api_keys as k
        where
            k.tenant_id = :tenant_id::integer
            and k.role = 'platform'
            and k.revoked_at is null
            and (k.expires_at is null or k.expires_at > rota.now())
    ) as has_platform_key;
