-- Ids of a tenant's jobs with a run in execution that match a filter, newest first. Starts from the
-- few held runs, because their jobs may be anywhere among many. Sorted at the end, or the planner
-- would scan all jobs for their order.
with held as materialized (
    select distinct h.job_id
    from rota.live_runs as h
    where
        h.tenant_id = :tenant_id::integer
        and h.state in ('running', 'cancelling')
),

fitting as materialized (
    select
        j.id,
        j.created_at
    from held as h
    inner join rota.jobs as j on h.job_id = j.id
    where
        j.tenant_id = :tenant_id::integer
        and j.state <> 'deleted'
        and (j.created_at, j.id) < (:before_at::timestamptz, :before_id::uuid)
        and j.created_at >= :from_at::timestamptz
        and (:user_id::text is null or j.user_id = :user_id::text)
        and (:kind_id::integer is null or j.kind_id = :kind_id::integer)
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
)

select
    f.id,
    f.created_at,
    true as fits
from fitting as f
order by f.created_at desc, f.id desc
limit :most::integer;
