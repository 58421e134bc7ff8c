-- The states of these subjects of expectations, locked in a fixed order.
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
inner join
    unnest(:expectation_ids::uuid[], :subject_keys::text[]) as n (expectation_id, subject_key)
    on s.expectation_id = n.expectation_id and s.subject_key = n.subject_key
order by s.expectation_id, s.subject_key
for update of s;
