-- Runs that are being executed and that a transaction from :xid on started or asked to stop. Reads
-- all held runs: there are never more than the workers have slots.
with fresh as materialized (
    select
        l.tenant_id,
        rota.full_xid(l.xmin, :xid::bigint) as xid,
        l.id,
        l.job_id,
        l.name,
        l.kind_id,
        l.state,
        l.attempt,
        moment.at,
        l.graph_run_id,
        row_number() over (
            partition by l.tenant_id, l.state order by l.started_at, l.id
        ) as place,
        count(*) over (partition by l.tenant_id, l.state) as total
    from rota.live_runs as l
    cross join
        lateral (
            select case when l.state = 'cancelling' then l.changed_at else l.started_at end as at
        ) as moment
    where
        l.state in ('running', 'cancelling')
        and l.member is null
        and moment.at >= :since::timestamptz
        and l.tenant_id = any(:tenant_ids::integer[])
        and rota.full_xid(l.xmin, :xid::bigint) >= :xid::bigint
)

select
    case when f.state = 'cancelling' then 'run.cancelling' else 'run.started' end as what,
    f.tenant_id,
    f.xid,
    f.at,
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
