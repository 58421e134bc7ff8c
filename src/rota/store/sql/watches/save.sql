-- Write watches: insert those that do not exist, replace the others. The caller has locked them.
insert into rota.watches as w (
    expectation_id, subject_key, tenant_id, job_id, condition, definition, state, since,
    next_check_at, tick_at, due_at, late_tick_at, run_id, streak, met_in_row, watched_since,
    job_version, evidence
)
select
    n.expectation_id,
    n.subject_key,
    n.tenant_id,
    n.job_id,
    n.condition,
    n.definition,
    n.state,
    n.since,
    n.next_check_at,
    n.tick_at,
    n.due_at,
    n.late_tick_at,
    n.run_id,
    n.streak,
    n.met_in_row,
    n.watched_since,
    n.job_version,
    n.evidence
from
    unnest(
        :expectation_ids::uuid[],
        :subject_keys::text[],
        :tenant_ids::integer[],
        :job_ids::uuid[],
        :conditions::text[],
        :definitions::jsonb[],
        :states::text[],
        :sinces::timestamptz[],
        :next_check_ats::timestamptz[],
        :tick_ats::timestamptz[],
        :due_ats::timestamptz[],
        :late_tick_ats::timestamptz[],
        :run_ids::uuid[],
        :streaks::integer[],
        :met_in_rows::smallint[],
        :watched_sinces::timestamptz[],
        :job_versions::integer[],
        :evidences::jsonb[]
    ) as n (
        expectation_id, subject_key, tenant_id, job_id, condition, definition, state, since,
        next_check_at, tick_at, due_at, late_tick_at, run_id, streak, met_in_row, watched_since,
        job_version, evidence
    )
on conflict (expectation_id, subject_key) do update
    set
        definition = excluded.definition,
        state = excluded.state,
        since = excluded.since,
        next_check_at = excluded.next_check_at,
        tick_at = excluded.tick_at,
        due_at = excluded.due_at,
        late_tick_at = excluded.late_tick_at,
        run_id = excluded.run_id,
        streak = excluded.streak,
        met_in_row = excluded.met_in_row,
        watched_since = excluded.watched_since,
        job_version = excluded.job_version,
        evidence = excluded.evidence
returning w.expectation_id, w.subject_key;
