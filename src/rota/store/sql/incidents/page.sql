-- Incidents of a tenant, latest first.
select
    i.id,
    i.tenant_id,
    i.state,
    i.severity,
    i.title,
    i.condition,
    i.expectation_id,
    i.expectation_name,
    i.subject_kind,
    i.subject_id,
    i.subject_name,
    i.job_id,
    i.run_id,
    i.facts,
    i.count as bad_runs,
    i.opened_at,
    i.last_seen_at,
    i.acknowledged_at,
    i.acknowledged_by,
    i.resolved_at,
    i.resolved_by,
    i.resolution,
    i.is_flapping,
    i.inhibited_by,
    case when i.silenced_until > :now::timestamptz then i.silenced_until end as silenced_until,
    i.labels,
    i.group_id
from rota.incidents as i
where
    (i.tenant_id = :tenant_id::integer or (:is_platform::boolean and i.tenant_id = 0))
    and (
        :states::text[] is null
        or i.state = any(:states::text[])
    )
    and (
        :is_silenced::boolean is null
        or coalesce(i.silenced_until > :now::timestamptz, false) = :is_silenced::boolean
    )
    and (:severity::text is null or i.severity = :severity::text)
    and (:job_id::uuid is null or i.job_id = :job_id::uuid)
    and (
        :before_at::timestamptz is null
        or (i.opened_at, i.id) < (:before_at::timestamptz, :before_id::uuid)
    )
order by i.opened_at desc, i.id desc
limit :most::integer;
