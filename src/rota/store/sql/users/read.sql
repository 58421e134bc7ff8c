-- One user, if a job, an unfinished submission or a key names it.
with owned as materialized (
    select count(*) as number
    from (
        (
            select 1
            from rota.jobs as j
            where
                j.tenant_id = :tenant_id::integer
                and j.user_id = :user_id::text
                and j.state <> 'deleted'
            limit :counted::integer
        )
        union all
        (
            select 1
            from rota.scheduled_runs as s
            where
                s.tenant_id = :tenant_id::integer
                and s.user_id = :user_id::text
            limit :counted::integer
        )
        union all
        (
            select 1
            from rota.live_runs as l
            where
                l.tenant_id = :tenant_id::integer
                and l.user_id = :user_id::text
            limit :counted::integer
        )
        limit :counted::integer
    ) as found
)

select
    :user_id::text as user_id,
    o.number as jobs,
    (
        select count(*)
        from rota.api_keys as k
        where
            k.tenant_id = :tenant_id::integer
            and k.user_id = :user_id::text
            and k.revoked_at is null
            and (k.expires_at is null or k.expires_at > rota.now())
    ) as keys
from owned as o
where
    o.number > 0
    or exists (
        select 1
        from rota.jobs as j
        where j.tenant_id = :tenant_id::integer and j.user_id = :user_id::text
    )
    or exists (
        select 1
        from rota.api_keys as k
        where k.tenant_id = :tenant_id::integer and k.user_id = :user_id::text
    );
