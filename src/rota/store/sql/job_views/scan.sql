-- Ids of a tenant's jobs that match a filter, newest first. Reads a limited number: if they did not
-- fill the page, a row with `fits = false` says how far the scan went. A materialized part is read
-- only as far as needed, and in order: the scan ends when the page is full.
-- The state is the one that rota.shown_state shows; the function is not inlined and would cost ten
-- times as much. Lookups are scalar, not `exists`, which the planner would answer by reading all
-- cursors once. Requires the planner settings of store/ordered_scan.py.
with looked as materialized (
    select
        j.id,
        j.created_at,
        (
            (:kind_id::integer is null or j.kind_id = :kind_id::integer)
            and (:queue_id::integer is null or j.queue_id = :queue_id::integer)
            and (:label_key::text is null or j.labels ->> :label_key::text = :label_value::text)
            and (:pattern::text is null or j.name ilike :pattern::text)
            and (
                :is_one_time::boolean is null
                or :is_one_time::boolean = coalesce(
                    j.schedule ?| array['immediate', 'at']
                    and jsonb_typeof(j.schedule -> 'at') is distinct from 'array'
                    and not j.schedule ?| array[
                        'cron', 'every', 'fixed_delay', 'rrule', 'event', 'on_demand'
                    ],
                    false
                )
            )
            and case
                when j.state = 'deleted'
                    then coalesce('deleted' = any(:states::rota.job_state[]), false)
                when
                    :states::rota.job_state[] is null
                    and not :pending::boolean
                    and not :running::boolean
                    then true
                else
                    coalesce(
                        case
                            when
                                j.state = 'active'
                                and j.schedule is not null
                                and not j.schedule ?| array['on_demand', 'event']
                                and (
                                    select true from rota.cursors as c
                                    where c.job_id = j.id
                                ) is null
                                then 'finished'
                            else j.state
                        end = any(:states::rota.job_state[]),
                        false
                    )
                    or (
                        :pending::boolean
                        and (
                            (
                                select c.fire_at from rota.cursors as c
                                where c.job_id = j.id
                            ) is not null
                            or (
                                select true from rota.live_runs as w
                                where
                                    w.job_id = j.id
                                    and w.state in ('blocked', 'queued', 'retrying')
                                    and w.trigger <> 'graph'
                                limit 1
                            ) is not null
                        )
                    )
                    or (
                        :running::boolean
                        and j.id in (
                            select h.job_id from rota.live_runs as h
                            where
                                h.tenant_id = :tenant_id::integer
                                and h.state in ('running', 'cancelling')
                        )
                    )
            end
        ) as fits
    from rota.jobs as j
    where
        j.tenant_id = :tenant_id::integer
        and (j.created_at, j.id) < (:before_at::timestamptz, :before_id::uuid)
        and j.created_at >= :from_at::timestamptz
    order by j.created_at desc, j.id desc
    limit :look::integer
),

fitting as materialized (
    select
        l.id,
        l.created_at
    from looked as l
    where l.fits
    limit :most::integer
)

select
    f.id,
    f.created_at,
    true as fits
from fitting as f
union all
select
    e.id,
    e.created_at,
    false as fits
from (select l.id, l.created_at from looked as l limit 1 offset :look::integer - 1) as e
where (select count(*) from fitting) < :most::integer;
