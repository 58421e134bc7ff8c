-- Events of incidents with these types, as in finished_runs.sql, and the incident as it is now.
with fresh as materialized (
    select
        e.xmin::text::bigint as xid,
        e.id,
        e.at,
        e.tenant_id,
        e.incident_id,
        e.type,
        e.by,
        e.text,
        e.details
    from rota.incident_events as e
    where
        e.at >= :since::timestamptz
        and e.at < coalesce(:until::timestamptz, 'infinity')
        and e.type = any(:types::text[])
        and e.tenant_id = any(:tenant_ids::integer[])
        -- fragment: unread_rows row=e at=at
        and not coalesce(
            (:read_xids::bigint[])[
                width_bucket(e.xmin::text::bigint, :read_xids::bigint[])
            ] = e.xmin::text::bigint
            and e.at >= (:read_since::timestamptz[])[
                width_bucket(e.xmin::text::bigint, :read_xids::bigint[])
            ]
            and e.at < (:read_until::timestamptz[])[
                width_bucket(e.xmin::text::bigint, :read_xids::bigint[])
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
    f.incident_id,
    f.type,
    f.by,
    f.text,
    f.details::text as details,
    i.title,
    i.condition,
    i.severity,
    i.state,
    i.subject_kind,
    i.subject_id,
    i.subject_name,
    i.expectation_name,
    i.opened_at,
    i.resolved_at,
    i.count as run_count,
    i.facts::text as facts,
    i.job_id,
    j.name as job_name,
    i.run_id,
    i.queue,
    i.task,
    i.labels::text as labels
from fresh as f
inner join rota.incidents as i on f.incident_id = i.id
left join rota.jobs as j on i.job_id = j.id;
