-- Jobs that transactions from :xid on created or changed, found by block ranges as in ended.sql.
with written as materialized (
    select
        j.tenant_id,
        rota.full_xid(j.xmin, :xid::bigint) as xid,
        j.id,
        j.name,
        j.state,
        j.updated_at
    from rota.jobs as j
    where
        j.updated_at >= :since::timestamptz
        and j.tenant_id + 0 = any(:tenant_ids::integer[])
        and rota.full_xid(j.xmin, :xid::bigint) >= :xid::bigint
),

fresh as materialized (
    select
        w.*,
        row_number() over (partition by w.tenant_id order by w.updated_at, w.id) as place,
        count(*) over (partition by w.tenant_id) as total
    from written as w
)

select
    'job.changed' as what,
    f.tenant_id,
    f.xid,
    f.updated_at as at,
    f.id as job_id,
    f.name,
    null::uuid as run_id,
    f.state::text as state,
    null::smallint as attempt,
    null::real as progress,
    null::text as message,
    null::uuid as graph_run_id,
    f.total
from fresh as f
where f.place <= :most::integer;
