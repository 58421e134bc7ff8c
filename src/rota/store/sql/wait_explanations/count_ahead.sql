-- How many ready runs of the same tenant and queue are ahead of this one, counted up to a limit.
-- They rank by ready time + priority × ten minutes (core/lanes.py), so in the lane of each
-- priority these are the runs before another time. Runs of kinds that no worker serves do not
-- count. For a run without gates.
select count(*) as ahead
from (
    select 1
    from generate_series(0, 9) as lane (priority)
    cross join
        lateral (
            select 1
            from rota.live_runs as l
            where
                l.state in ('queued', 'retrying')
                and l.gates is null
                and l.queue_id = :queue_id::integer
                and l.tenant_id = :tenant_id::integer
                and l.priority = lane.priority
                and (l.ready_at, l.id) < (
                    :ready_at::timestamptz
                    + (:priority::integer - lane.priority) * :age_step::interval,
                    :run_id::uuid
                )
                and l.ready_at <= (select rota.now())
                and l.kind_id = any(:kind_ids::integer[])
            limit :most::integer
        ) as earlier
    limit :most::integer
) as counted;
