-- How many runs of a tenant must be read to count those that ended in a period: a limited number of
-- a range of ids, and as many of those that ended more than an hour after the time in their ids.
select
    (
        select count(*)
        from (
            select 1
            from rota.runs as u
            where
                u.tenant_id = :tenant_id::integer
                and u.id >= :from_id::uuid
                and u.id < :to_id::uuid
            limit :most::integer
        ) as near
    )
    + (
        select count(*)
        from (
            select 1
            from rota.runs as u
            where
                u.tenant_id = :tenant_id::integer
                and u.finished_at >= :since::timestamptz
                and u.finished_at < :until::timestamptz
                and u.finished_at - least(u.scheduled_at, u.created_at) > interval '1 hour'
            limit :most::integer
        ) as late
    ) as number;
