-- New waiting runs, written by transactions from :xid on. By id, which begins with the time: a run
-- that was created for a time long past is reported when it starts. The condition for waiting is
-- written so that no index matches, because the matching ones contain all waiting runs.
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
        l.created_at,
        l.graph_run_id,
        row_number() over (partition by l.tenant_id order by l.created_at, l.id) as place,
        count(*) over (partition by l.tenant_id) as total
    from rota.live_runs as l
    where
        l.id >= :from_id::uuid
        and l.created_at >= :since::timestamptz
        and l.state < 'retrying'
        and l.attempt = 0
        and l.member is null
        and l.tenant_id = any(:tenant_ids::integer[])
        and rota.full_xid(l.xmin, :xid::bigint) >= :xid::bigint
)

select
    'run.made' as what,
    f.tenant_id,
    f.xid,
    f.created_at as at,
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
