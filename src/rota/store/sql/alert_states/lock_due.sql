-- States that time changes: pending ones whose violation lasted long enough, flapping ones that are
-- steady. Another process may have locked some.
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
where s.next_at <= :now::timestamptz
order by s.next_at
limit :most::integer
for update skip locked;
