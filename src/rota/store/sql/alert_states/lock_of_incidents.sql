-- The states that belong to these incidents, locked in a fixed order.
select
    s.tenant_id,
    s.expectation_id,
    s.subject_key,
    s.state,
    s.since,
    s.run_id,
    s.incident_id,
    s.opened,
    s.met_in_row,
    s.changes,
    s.is_flapping,
    s.is_met,
    s.next_at,
    s.finding
from rota.alert_states as s
where s.incident_id = any(:incident_ids::uuid[])
order by s.expectation_id, s.subject_key
for update;
