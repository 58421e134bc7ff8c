-- Ids of a job's runs that match a filter, like walk.sql for a tenant. Unfinished ones are found by
-- their job and sorted; the index of all ids would be in order, but full of other jobs' runs.
with looked as materialized (
    select
        r.id,
        (
            (:states::rota.run_state[] is null or r.state = any(:states::rota.run_state[]))
            and (:queue_id::integer is null or r.queue_id = :queue_id::integer)
            and (:kind_id::integer is null or r.kind_id = :kind_id::integer)
            and (:trigger::rota.run_trigger is null or r.trigger = :trigger::rota.run_trigger)
            and (:session_ids::uuid[] is null or r.session_id = any(:session_ids::uuid[]))
        ) as fits
    from rota.runs as r
    where
        (r.job_id, r.id) < (:job_id::uuid, :before_id::uuid)
        and (r.job_id, r.id) >= (:job_id::uuid, :from_id::uuid)
        and r.id < :before_id::uuid
        and r.id >= :from_id::uuid
        and r.trigger <> 'graph'
        and r.tenant_id = :tenant_id::integer
        and :ended::boolean
    order by r.job_id desc, r.id desc
    limit :look::integer
),

fitting as materialized (
    select l.id
    from looked as l
    where l.fits
    limit :most::integer
),

in_line as materialized (
    select w.id
    from rota.live_runs as w
    where
        w.state in ('blocked', 'queued', 'retrying')
        and w.trigger <> 'graph'
        and :waiting::boolean
        and w.job_id = :job_id::uuid
        and w.tenant_id = :tenant_id::integer
        and (:states::rota.run_state[] is null or w.state = any(:states::rota.run_state[]))
        and (:queue_id::integer is null or w.queue_id = :queue_id::integer)
        and (:kind_id::integer is null or w.kind_id = :kind_id::integer)
        and (:trigger::rota.run_trigger is null or w.trigger = :trigger::rota.run_trigger)
),

in_hand as materialized (
    select h.id
    from rota.live_runs as h
    where
        h.state in ('running', 'cancelling')
        and h.trigger <> 'graph'
        and :held::boolean
        and h.job_id = :job_id::uuid
        and h.tenant_id = :tenant_id::integer
        and (:states::rota.run_state[] is null or h.state = any(:states::rota.run_state[]))
        and (:queue_id::integer is null or h.queue_id = :queue_id::integer)
        and (:kind_id::integer is null or h.kind_id = :kind_id::integer)
        and (:trigger::rota.run_trigger is null or h.trigger = :trigger::rota.run_trigger)
        and (:session_ids::uuid[] is null or h.session_id = any(:session_ids::uuid[]))
)

select
    w.id,
    true as fits
from (
    select i.id
    from in_line as i
    where
        i.id < :before_id::uuid
        and i.id >= :from_id::uuid
    order by i.id desc
    limit :most::integer
) as w
union all
select
    h.id,
    true as fits
from (
    select i.id
    from in_hand as i
    where
        i.id < :before_id::uuid
        and i.id >= :from_id::uuid
    order by i.id desc
    limit :most::integer
) as h
union all
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
