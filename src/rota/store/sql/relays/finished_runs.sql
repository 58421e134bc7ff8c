-- Runs that ended from :since on and before :until, found by block ranges. Left out: members of
-- maps, successes that no consumer asked for, and rows that an earlier read returned. The place in
-- the sorted array of jobs is found by binary search: there may be thousands.
with fresh as materialized (
    select
        r.xmin::text::bigint as xid,
        r.tenant_id,
        r.id,
        r.job_id,
        r.name,
        r.labels,
        r.user_id,
        r.kind_id,
        r.queue_id,
        r.state,
        r.left_state,
        r.trigger,
        r.attempt,
        r.scheduled_at,
        r.due_at,
        r.started_at,
        r.finished_at,
        r.reason,
        r.graph_run_id,
        r.step
    from rota.runs as r
    where
        r.finished_at >= :since::timestamptz
        and r.finished_at < coalesce(:until::timestamptz, 'infinity')
        and r.member is null
        and (
            r.state <> 'succeeded'
            or r.tenant_id = any(:succeeded_tenants::integer[])
            or (:succeeded_jobs::uuid[])[width_bucket(r.job_id, :succeeded_jobs::uuid[])]
            = r.job_id
        )
        -- fragment: unread_rows row=r at=finished_at
        and not coalesce(
            (:read_xids::bigint[])[
                width_bucket(r.xmin::text::bigint, :read_xids::bigint[])
            ] = r.xmin::text::bigint
            and r.finished_at >= (:read_since::timestamptz[])[
                width_bucket(r.xmin::text::bigint, :read_xids::bigint[])
            ]
            and r.finished_at < (:read_until::timestamptz[])[
                width_bucket(r.xmin::text::bigint, :read_xids::bigint[])
            ],
            false
        )
        -- end fragment
)

select
    f.xid,
    f.finished_at as at,
    f.tenant_id,
    f.id as run_id,
    f.job_id,
    coalesce(f.name, j.name, k.name) as job_name,
    coalesce(f.labels, j.labels)::text as labels,
    coalesce(f.user_id, j.user_id) as user_id,
    k.name as task,
    q.name as queue,
    f.state::text as state,
    f.trigger::text as trigger,
    f.attempt,
    f.scheduled_at,
    f.due_at,
    f.started_at,
    f.reason::text as reason,
    f.graph_run_id,
    f.step,
    (j.graph_id is not null and f.graph_run_id is null) or g.run_id is not null as is_graph
from fresh as f
left join rota.jobs as j on f.job_id = j.id
left join rota.kinds as k on f.kind_id = k.id
left join rota.queues as q on f.queue_id = q.id
-- An expanded graph run was blocked; other runs cost no look-up.
left join rota.graph_runs as g on g.run_id = case when f.left_state = 'blocked' then f.id end;
