-- The watches of subjects other than jobs, of conditions that ends of runs decide, whose
-- expectation does not exist any more, locked.
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
from rota.watches as w
where
    w.state <> 'ok'
    and w.job_id is null
    and w.condition = any(:conditions::text[])
    and w.expectation_id <> all(:expectation_ids::uuid[])
order by w.expectation_id, w.subject_key
limit :most::integer
for update;
