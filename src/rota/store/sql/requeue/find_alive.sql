-- How many matching runs of a tenant can be asked to cancel, counted up to a limit, and the ids of
-- the oldest. Runs that were asked already do not count.
with matching as materialized (
    select r.id
    from rota.live_runs as r
    inner join rota.kinds as k on r.kind_id = k.id
    inner join rota.queues as q on r.queue_id = q.id
    where
        r.tenant_id = :tenant_id::integer
        and r.state in ('blocked', 'queued', 'retrying', 'running')
        and (:job_id::uuid is null or r.job_id = :job_id::uuid)
        and (:kind::text is null or k.name = :kind::text)
        and (:queue::text is null or q.name = :queue::text)
        and (:since::timestamptz is null or r.created_at >= :since::timestamptz)
        and (:until::timestamptz is null or r.created_at < :until::timestamptz)
    order by r.id
    limit :most::integer
)

select
    (select count(*) from matching)::integer as found,
    array(
        select m.id from matching as m
        order by m.id
        limit :batch::integer
    ) as ids;
