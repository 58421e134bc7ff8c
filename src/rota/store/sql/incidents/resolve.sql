-- End open incidents that no violation keeps open. The caller wakes their groups.
update rota.incidents as i
set
    state = 'resolved',
    resolved_at = :now::timestamptz,
    resolved_by = :by::text,
    resolution = n.resolution,
    is_flapping = false
from unnest(:incident_ids::uuid[], :resolutions::text[]) as n (id, resolution)
where
    i.id = n.id
    and i.state <> 'resolved'
    and not exists (
        select 1 from rota.alert_states as s
        where
            s.incident_id = i.id
            and s.state = 'firing'
    )
returning
    i.id,
    i.tenant_id,
    i.title,
    i.resolution,
    i.condition,
    i.severity,
    i.subject_kind,
    i.subject_id,
    i.subject_name,
    i.job_id,
    i.run_id,
    i.count as bad_runs,
    i.opened_at,
    i.expectation_id,
    i.expectation_name;
