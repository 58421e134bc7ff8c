-- Audit entries with these actions, as in finished_runs.sql. Ids rise with the times up to the
-- seconds that a statement takes, so the ids before a somewhat earlier time bound what is read.
with fresh as materialized (
    select
        a.xmin::text::bigint as xid,
        a.id,
        a.at,
        a.tenant_id,
        a.actor,
        a.origin,
        a.action,
        a.thing,
        a.thing_id,
        a.before,
        a.after
    from rota.audit as a
    where
        a.id > coalesce(
            (
                select o.id
                from rota.audit as o
                where o.at < :since::timestamptz - interval '10 seconds'
                order by o.id desc
                limit 1
            ),
            0
        )
        and a.at >= :since::timestamptz
        and a.at < coalesce(:until::timestamptz, 'infinity')
        and a.action = any(:actions::text[])
        and a.tenant_id = any(:tenant_ids::integer[])
        -- fragment: unread_rows row=a at=at
        and not coalesce(
            (:read_xids::bigint[])[
                width_bucket(a.xmin::text::bigint, :read_xids::bigint[])
            ] = a.xmin::text::bigint
            and a.at >= (:read_since::timestamptz[])[
                width_bucket(a.xmin::text::bigint, :read_xids::bigint[])
            ]
            and a.at < (:read_until::timestamptz[])[
                width_bucket(a.xmin::text::bigint, :read_xids::bigint[])
            ],
            false
        )
        -- end fragment
)

select
    f.xid,
    f.at,
    f.tenant_id,
    f.id,
    f.actor,
    f.origin,
    f.action,
    f.thing,
    f.thing_id,
    f.before::text as before,
    f.after::text as after,
    j.id as job_id,
    coalesce(j.name, f.after ->> 'name') as job_name,
    j.labels::text as labels,
    j.user_id,
    k.name as task,
    q.name as queue,
    j.state::text as state
from fresh as f
left join rota.jobs as j
    on
        f.thing = 'job'
        and j.id = case
            when f.thing_id ~ '^job_[0-9a-f]{32}$' then substr(f.thing_id, 5)::uuid
        end
left join rota.kinds as k on j.kind_id = k.id
left join rota.queues as q on j.queue_id = q.id;
