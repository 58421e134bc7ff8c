-- The backfills of a tenant, newest first, before `before_id`.
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
    b.tenant_id = :tenant_id::integer
    and b.id < :before_id::uuid
    and (:job_id::uuid is null or b.job_id = :job_id::uuid)
    and (:states::text[] is null or b.state::text = any(:states::text[]))
order by b.id desc
limit :most::integer;
