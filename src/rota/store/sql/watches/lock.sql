-- Watches by expectation and subject, locked.
select
    w.expectation_id,
    w.subject_key,
    w.tenant_id,
    w.job_id,
    w.condition,
    w.definition,
    w.state,
    w.since,
    w.next_check_at,
    w.tick_at,
    w.due_at,
    w.late_tick_at,
    w.run_id,
    w.streak,
    w.met_in_row,
    w.watched_since,
    w.job_version,
    w.evidence
from unnest(:expectation_ids::uuid[], :subject_keys::text[]) as n (expectation_id, subject_key)
inner join rota.watches as w
    on n.expectation_id = w.expectation_id and n.subject_key = w.subject_key
order by w.expectation_id, w.subject_key
for update of w;
