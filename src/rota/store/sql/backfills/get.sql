-- One backfill of a tenant, as the API shows it.
select
    b.id,
    b.job_id,
    j.name as job,
    b.state,
    b.since,
    b.until,
    b.picks,
    b.newest_first,
    b.at_once,
    b.priority,
    b.payload,
    b.reached,
    b.ticks,
    b.made,
    b.succeeded,
    b.failed,
    b.cancelled,
    b.expected,
    b.is_guess,
    b.paused_at,
    b.paused_for,
    b.created_at,
    b.created_by,
    b.ended_at,
    b.reason,
    rota.now() as now
from rota.backfills as b
left join rota.jobs as j on b.job_id = j.id
where
    b.id = :id::uuid
    and b.tenant_id = :tenant_id::integer;
