-- Backfills that ended, as in finished_runs.sql. There are few, and old ones are deleted.
with fresh as materialized (
    select
        b.xmin::text::bigint as xid,
        b.ended_at as at,
        b.tenant_id,
        b.id,
        b.job_id,
        b.state,
        b.since,
        b.until,
        b.ticks,
        b.made,
        b.succeeded,
        b.failed,
        b.cancelled
    from rota.backfills as b
    where
        b.ended_at >= :since::timestamptz
        and b.ended_at < coalesce(:until::timestamptz, 'infinity')
        and b.tenant_id = any(:tenant_ids::integer[])
        -- fragment: unread_rows row=b at=ended_at
        and not coalesce(
            (:read_xids::bigint[])[
                width_bucket(b.xmin::text::bigint, :read_xids::bigint[])
            ] = b.xmin::text::bigint
            and b.ended_at >= (:read_since::timestamptz[])[
                width_bucket(b.xmin::text::bigint, :read_xids::bigint[])
            ]
            and b.ended_at < (:read_until::timestamptz[])[
                width_bucket(b.xmin::text::bigint, :read_xids::bigint[])
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
    f.job_id,
    j.name as job_name,
    j.labels::text as labels,
    j.user_id,
    f.state::text as state,
    f.since,
    f.until,
    f.ticks,
    f.made,
    f.succeeded,
    f.failed,
    f.cancelled
from fresh as f
left join rota.jobs as j on f.job_id = j.id;
