-- Attempts that failed while their run continued, as in finished_runs.sql. The run is live or has
-- ended meanwhile; both are read as of one snapshot.
with fresh as materialized (
    select
        a.xmin::text::bigint as xid,
        a.run_id,
        a.attempt,
        a.outcome,
        a.started_at,
        a.finished_at,
        a.reason
    from rota.attempts as a
    where
        a.finished_at >= :since::timestamptz
        and a.finished_at < coalesce(:until::timestamptz, 'infinity')
        and a.outcome in ('failed', 'lost', 'timed_out')
        -- fragment: unread_rows row=a at=finished_at
        and not coalesce(
            (:read_xids::bigint[])[
                width_bucket(a.xmin::text::bigint, :read_xids::bigint[])
            ] = a.xmin::text::bigint
            and a.finished_at >= (:read_since::timestamptz[])[
                width_bucket(a.xmin::text::bigint, :read_xids::bigint[])
            ]
            and a.finished_at < (:read_until::timestamptz[])[
                width_bucket(a.xmin::text::bigint, :read_xids::bigint[])
            ],
            false
        )
        -- end fragment
)

select
    f.xid,
    f.finished_at as at,
    run.tenant_id,
    f.run_id,
    run.job_id,
    coalesce(run.name, j.name, k.name) as job_name,
    coalesce(run.labels, j.labels)::text as labels,
    coalesce(run.user_id, j.user_id) as user_id,
    k.name as task,
    q.name as queue,
    f.outcome,
    run.state::text as state,
    run.trigger::text as trigger,
    f.attempt,
    run.scheduled_at,
    run.due_at,
    f.started_at,
    f.reason::text as reason,
    run.graph_run_id,
    run.step
from fresh as f
inner join
    lateral (
        select
            l.tenant_id, l.job_id, l.name, l.labels, l.user_id, l.kind_id, l.queue_id, l.state,
            l.trigger, l.scheduled_at, l.due_at, l.graph_run_id, l.step, l.member
        from rota.live_runs as l
        where l.id = f.run_id
        union all
        select
            r.tenant_id, r.job_id, r.name, r.labels, r.user_id, r.kind_id, r.queue_id, r.state,
            r.trigger, r.scheduled_at, r.due_at, r.graph_run_id, r.step, r.member
        from rota.runs as r
        where
            r.tenant_id = any(:tenant_ids::integer[])
            and r.id = f.run_id
        limit 1
    ) as run
    on run.member is null and run.tenant_id = any(:tenant_ids::integer[])
left join rota.jobs as j on run.job_id = j.id
left join rota.kinds as k on run.kind_id = k.id
left join rota.queues as q on run.queue_id = q.id;
