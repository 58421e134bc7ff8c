-- Ids of a tenant's dead letters that match a filter, like walk.sql for all runs: reads a limited
-- number, and a row says how far the scan went if they did not fill the page.
with looked as materialized (
    select
        r.id,
        (
            r.id >= :from_id::uuid
            and r.state = any(:states::rota.run_state[])
            -- The dead letter of a graph is its run, not its steps.
            and (:with_dropped::boolean or (r.dropped_at is null and r.trigger <> 'graph'))
            and (:job_id::uuid is null or r.job_id = :job_id::uuid)
            and (:queue_id::integer is null or r.queue_id = :queue_id::integer)
            and (:kind_id::integer is null or r.kind_id = :kind_id::integer)
            and (:trigger::rota.run_trigger is null or r.trigger = :trigger::rota.run_trigger)
            and (:session_ids::uuid[] is null or r.session_id = any(:session_ids::uuid[]))
            and (:ended_after::timestamptz is null or r.finished_at >= :ended_after::timestamptz)
            and (:ended_before::timestamptz is null or r.finished_at < :ended_before::timestamptz)
            and (
                :fingerprint::text is null
                or rota.failure_fingerprint(r.reason) = :fingerprint::text
            )
        ) as fits
    from rota.runs as r
    where
        (r.tenant_id, r.id) < (:tenant_id::integer, :before_id::uuid)
        and (r.tenant_id, r.id)
        >= (:tenant_id::integer, '00000000-0000-0000-0000-000000000000'::uuid)
        and r.id < :before_id::uuid
        and r.state in ('dead', 'lost', 'quarantined')
    order by r.tenant_id desc, r.id desc
    limit :look::integer
),

fitting as materialized (
    select l.id
    from looked as l
    where l.fits
    limit :most::integer
)

select
    f.id,
    true as fits
from fitting as f
union all
select
    e.id,
    false as fits
from (select l.id from looked as l limit 1 offset :look::integer - 1) as e
where (select count(*) from fitting) < :most::integer;
