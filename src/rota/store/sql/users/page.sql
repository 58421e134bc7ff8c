-- The users that the jobs, unfinished submissions and keys of a tenant name, in the order of their
-- names. Each name is a new index lookup, so a user with a million jobs costs as much as one with a
-- single job.
with recursive owners as (
    select
        least(
            (
                select j.user_id
                from rota.jobs as j
                where
                    j.tenant_id = :tenant_id::integer
                    and j.user_id is not null
                    and j.user_id > :after::text
                order by j.user_id
                limit 1
            ),
            (
                select s.user_id
                from rota.scheduled_runs as s
                where
                    s.tenant_id = :tenant_id::integer
                    and s.user_id is not null
                    and s.user_id > :after::text
                order by s.user_id
                limit 1
            ),
            (
                select l.user_id
                from rota.live_runs as l
                where
                    l.tenant_id = :tenant_id::integer
                    and l.user_id is not null
                    and l.user_id > :after::text
                order by l.user_id
                limit 1
            )
        ) as user_id
    union all
    select
        least(
            (
                select j.user_id
                from rota.jobs as j
                where
                    j.tenant_id = :tenant_id::integer
                    and j.user_id is not null
                    and j.user_id > o.user_id
                order by j.user_id
                limit 1
            ),
            (
                select s.user_id
                from rota.scheduled_runs as s
                where
                    s.tenant_id = :tenant_id::integer
                    and s.user_id is not null
                    and s.user_id > o.user_id
                order by s.user_id
                limit 1
            ),
            (
                select l.user_id
                from rota.live_runs as l
                where
                    l.tenant_id = :tenant_id::integer
                    and l.user_id is not null
                    and l.user_id > o.user_id
                order by l.user_id
                limit 1
            )
        )
    from owners as o
    where o.user_id is not null
),

named as (
    (
        select o.user_id
        from owners as o
        where o.user_id is not null
        limit :most::integer
    )
    union
    (
        select distinct k.user_id
        from rota.api_keys as k
        where k.tenant_id = :tenant_id::integer and k.user_id > :after::text
        order by k.user_id
        limit :most::integer
    )
    order by user_id
    limit :most::integer
)

select
    n.user_id,
    (
        select count(*)
        from (
            (
                select 1
                from rota.jobs as j
                where
                    j.tenant_id = :tenant_id::integer
                    and j.user_id = n.user_id
                    and j.state <> 'deleted'
                limit :counted::integer
            )
            union all
            (
                select 1
                from rota.scheduled_runs as s
                where
                    s.tenant_id = :tenant_id::integer
                    and s.user_id = n.user_id
                limit :counted::integer
            )
            union all
            (
                select 1
                from rota.live_runs as l
                where
                    l.tenant_id = :tenant_id::integer
                    and l.user_id = n.user_id
                limit :counted::integer
            )
            limit :counted::integer
        ) as found
    ) as jobs,
    (
        select count(*)
        from rota.api_keys as k
        where
            k.tenant_id = :tenant_id::integer
            and k.user_id = n.user_id
            and k.revoked_at is null
            and (k.expires_at is null or k.expires_at > rota.now())
    ) as keys
from named as n
order by n.user_id;
