-- How many dead letters of a tenant match, counted up to a limit, and the ids of the oldest.
-- Counting, requeueing, editing and dropping dead letters use this statement; the list
-- (run_views/scan_dead_letters.sql) and the groups (run_views/dead_groups.sql) have the same
-- conditions.
with matching as materialized (
    select r.id
    from rota.runs as r
    where
        (r.tenant_id, r.id)
        >= (:tenant_id::integer, '00000000-0000-0000-0000-000000000000'::uuid)
        and (r.tenant_id, r.id)
        <= (:tenant_id::integer, 'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid)
        and r.state in ('dead', 'lost', 'quarantined')
        and r.dropped_at is null
        -- The dead letter of a graph is its run, not its steps.
        and r.trigger <> 'graph'
        and (:job_id::uuid is null or r.job_id = :job_id::uuid)
        and (
            :kind::text is null
            or r.kind_id = (
                select k.id from rota.kinds as k
                where k.name = :kind::text
            )
        )
        and (
            :queue::text is null
            or r.queue_id = (
                select q.id from rota.queues as q
                where q.name = :queue::text
            )
        )
        and (:since::timestamptz is null or r.finished_at >= :since::timestamptz)
        and (:until::timestamptz is null or r.finished_at < :until::timestamptz)
        and (:error::text is null or r.reason ->> 'type' = :error::text)
        and (
            :fingerprint::text is null
            or rota.failure_fingerprint(r.reason) = :fingerprint::text
        )
    order by r.tenant_id, r.id
    limit :most::integer
)

select
    (select count(*) from matching)::integer as found,
    array(
        select m.id from matching as m
        order by m.id
        limit :batch::integer
    ) as ids;
