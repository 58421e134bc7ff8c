-- Attempts that ended while their run continues, written by transactions from :xid on. A run that
-- has ended meanwhile is reported by its end.
with written as materialized (
    select
        a.run_id,
        a.attempt,
        a.finished_at,
        a.outcome,
        rota.full_xid(a.xmin, :xid::bigint) as xid
    from rota.attempts as a
    where
        a.finished_at >= :since::timestamptz
        and rota.full_xid(a.xmin, :xid::bigint) >= :xid::bigint
),

fresh as materialized (
    select
        l.tenant_id,
        w.xid,
        l.id,
        l.job_id,
        l.name,
        l.kind_id,
        l.state,
        w.attempt,
        w.finished_at,
        w.outcome,
        l.graph_run_id,
        row_number() over (partition by l.tenant_id order by w.finished_at, l.id) as place,
        count(*) over (partition by l.tenant_id) as total
    from written as w
    inner join rota.live_runs as l on w.run_id = l.id
    where
        l.tenant_id = any(:tenant_ids::integer[])
        and l.member is null
)

select
    'run.attempted' as what,
    f.tenant_id,
    f.xid,
    f.finished_at as at,
    f.job_id,
    coalesce(f.name, j.name, k.name) as name,
    f.id as run_id,
    f.state::text as state,
    f.attempt,
    null::real as progress,
    f.outcome as message,
    f.graph_run_id,
    f.total
from fresh as f
left join rota.jobs as j on f.job_id = j.id
left join rota.kinds as k on f.kind_id = k.id
where f.place <= :most::integer;
