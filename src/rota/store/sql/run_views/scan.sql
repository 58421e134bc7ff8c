-- Ids of a tenant's runs that match a filter, newest first in each part. Reads a limited number of
-- runs of history, so that a rare filter cannot scan months: if they did not fill the page, a row
-- with `fits = false` says how far the scan went. A materialized part is read only as far as
-- needed, and in order: the scan ends when the page is full.
-- Rows compared from the tenant on match only the index of tenant and id: the planner prefers it to
-- the index of all ids, which for a tenant without runs means reading everything. Under row-level
-- security, a scan starts at the upper bound of the id alone. The lower bound is checked run by
-- run: as an index bound it would form a narrow range, for which the planner considers any index
-- suitable. Requires the planner settings of store/ordered_scan.py: only held runs are sorted.
with looked as materialized (
    select
        r.id,
        (
            r.id >= :from_id::uuid
            and (:states::rota.run_state[] is null or r.state = any(:states::rota.run_state[]))
            and (:queue_id::integer is null or r.queue_id = :queue_id::integer)
            and (:kind_id::integer is null or r.kind_id = :kind_id::integer)
            and (:trigger::rota.run_trigger is null or r.trigger = :trigger::rota.run_trigger)
            and (:session_ids::uuid[] is null or r.session_id = any(:session_ids::uuid[]))
            and (:graph_run_id::uuid is null or r.graph_run_id = :graph_run_id::uuid)
        ) as fits
    from rota.runs as r
    where
        (r.tenant_id, r.id) < (:tenant_id::integer, :before_id::uuid)
        and (r.tenant_id, r.id)
        >= (:tenant_id::integer, '00000000-0000-0000-0000-000000000000'::uuid)
        and r.id < :before_id::uuid
        and :ended::boolean
    order by r.tenant_id desc, r.id desc
    limit :look::integer
),

fitting as materialized (
    select l.id
    from looked as l
    where l.fits
    limit :most::integer
),

waiting as (
    select w.id
    from rota.live_runs as w
    where
        w.state in ('blocked', 'queued', 'retrying')
        and :waiting::boolean
        and w.tenant_id = :tenant_id::integer
        and w.id < :before_id::uuid
        and w.id >= :from_id::uuid
        and (:states::rota.run_state[] is null or w.state = any(:states::rota.run_state[]))
        and (:queue_id::integer is null or w.queue_id = :queue_id::integer)
        and (:kind_id::integer is null or w.kind_id = :kind_id::integer)
        and (:trigger::rota.run_trigger is null or w.trigger = :trigger::rota.run_trigger)
        and (:graph_run_id::uuid is null or w.graph_run_id = :graph_run_id::uuid)
    order by w.id desc
    limit :most::integer
),

in_hand as materialized (
    select h.id
    from rota.live_runs as h
    where
        h.state in ('running', 'cancelling')
        and :held::boolean
        and h.tenant_id = :tenant_id::integer
        and (:states::rota.run_state[] is null or h.state = any(:states::rota.run_state[]))
        and (:queue_id::integer is null or h.queue_id = :queue_id::integer)
        and (:kind_id::integer is null or h.kind_id = :kind_id::integer)
        and (:trigger::rota.run_trigger is null or h.trigger = :trigger::rota.run_trigger)
        and (:session_ids::uuid[] is null or h.session_id = any(:session_ids::uuid[]))
        and (:graph_run_id::uuid is null or h.graph_run_id = :graph_run_id::uuid)
)

select
    w.id,
    true as fits
from waiting as w
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
