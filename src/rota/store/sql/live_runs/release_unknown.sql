-- Release runs that a session holds but does not know, because the response to its claim was lost.
-- Their handlers never started, so this counts neither as a loss nor as a retry.
with released as (
    update rota.live_runs as r
    set
        state = 'queued',
        session_id = null,
        ready_at = rota.now(),
        changed_at = rota.now()
    where
        r.state in ('running', 'cancelling')
        and r.state = 'running'
        and r.session_id = :session_id::uuid
        and not r.id = any(:known::uuid[])
    returning r.id, r.attempt, r.started_at
),

kept as (
    insert into rota.attempts (
        run_id, attempt, session_id, outcome, started_at, finished_at, reason
    )
    select
        r.id,
        r.attempt,
        :session_id::uuid,
        'released',
        r.started_at,
        rota.now(),
        '{"code": "claim_unanswered"}'
    from released as r
)

select r.id
from released as r;
