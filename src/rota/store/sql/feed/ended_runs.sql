-- Runs that ended, written by transactions from :xid on: a limited number per tenant, oldest first,
-- and how many there are in total. Found by block ranges, then filtered by tenant and sorted: the
-- index that is ordered by tenant contains all of their history.
with written as materialized (
    select
        r.tenant_id,
        rota.full_xid(r.xmin, :xid::bigint) as xid,
        r.id,
        r.job_id,
        r.name,
        r.kind_id,
        r.state,
        r.attempt,
        r.finished_at,
        r.graph_run_id
    from rota.runs as r
    where
        r.finished_at >= :since::timestamptz
        and r.member is null
        and r.tenant_id + 0 = any(:tenant_ids::integer[])
        and rota.full_xid(r.xmin, :xid::bigint) >= :xid::bigint
),

fresh as materialized (
    select
        w.*,
        row_number() over (partition by w.tenant_id order by w.finished_at, w.id) as place,
        count(*) over (partition by w.tenant_id) as total
    from written as w
)

select
    'run.ended' as what,
    f.tenant_id,
    f.xid,
    f.finished_at as at,
    f.job_id,
    coalesce(f.name, j.name, k.name) as name,
    f.id as run_id,
    f.state::text as state,
    f.attempt,
    null::real as progress,
    null::text as message,
    f.graph_run_id,
    f.total
from fresh as f
left join rota.jobs as j on f.job_id = j.id
left join rota.kinds as k on f.kind_id = k.id
where f.place <= :most::integer;
