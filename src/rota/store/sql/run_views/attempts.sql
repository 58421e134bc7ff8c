-- The attempts of a tenant's run: those that did not end it from their table, and the one that is
-- running or ended it from the run itself.
with told as (
    select
        l.id as run_id, l.attempt, l.session_id, l.state::text as outcome, l.started_at,
        null::timestamptz as finished_at, null::jsonb as reason,
        l.state in ('running', 'cancelling') as is_held
    from rota.live_runs as l
    where
        l.id = :run_id::uuid
        and l.tenant_id = :tenant_id::integer
    union all
    select
        r.id as run_id, r.attempt, r.session_id,
        case
            when r.state = 'dead' then 'failed'
            when r.state = 'quarantined' then 'lost'
            else r.state::text
        end as outcome,
        r.started_at, r.finished_at, r.reason,
        coalesce(r.left_state in ('running', 'cancelling'), false) as is_held
    from rota.runs as r
    where
        r.id = :run_id::uuid
        and r.tenant_id = :tenant_id::integer
),

each_one as (
    select
        a.attempt, a.session_id, a.outcome, a.started_at, a.finished_at, a.reason
    from rota.attempts as a
    where
        a.run_id = :run_id::uuid
        and exists (select 1 from told)
    union all
    select
        t.attempt, t.session_id, t.outcome, t.started_at, t.finished_at, t.reason
    from told as t
    where t.is_held
)

select
    e.attempt,
    e.session_id,
    s.name as worker,
    e.outcome,
    e.started_at,
    e.finished_at,
    e.reason
from each_one as e
left join rota.sessions as s on e.session_id = s.id
order by e.attempt;
