-- The progress that running attempts reported in transactions from :xid on.
with fresh as materialized (
    select
        l.tenant_id,
        rota.full_xid(n.xmin, :xid::bigint) as xid,
        l.id,
        l.job_id,
        l.name,
        l.kind_id,
        l.state,
        l.attempt,
        n.noted_at,
        n.progress,
        n.message,
        l.graph_run_id,
        row_number() over (partition by l.tenant_id order by n.noted_at, l.id) as place,
        count(*) over (partition by l.tenant_id) as total
    from rota.live_runs as l
    inner join rota.run_notes as n on l.id = n.run_id and l.attempt = n.attempt
    where
        l.state in ('running', 'cancelling')
        and l.member is null
        and l.tenant_id = any(:tenant_ids::integer[])
        and n.noted_at >= :since::timestamptz
        and (n.progress is not null or n.message is not null)
        and rota.full_xid(n.xmin, :xid::bigint) >= :xid::bigint
)

select
    'run.progressed' as what,
    f.tenant_id,
    f.xid,
    f.noted_at as at,
    f.job_id,
    coalesce(f.name, j.name, k.name) as name,
    f.id as run_id,
    f.state::text as state,
    f.attempt,
    f.progress,
    f.message,
    f.graph_run_id,
    f.total
from fresh as f
left join rota.jobs as j on f.job_id = j.id
left join rota.kinds as k on f.kind_id = k.id
where f.place <= :most::integer;
