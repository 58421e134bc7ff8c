-- Give a run that was just made to the session of the process that carries it out, as a claim
-- would. In the transaction that made it: no worker has seen it.
update rota.live_runs as r
set
    state = 'running',
    attempt = r.attempt + 1,
    session_id = :session_id::uuid,
    started_at = clock.now
from (select rota.now() as now) as clock
where
    r.id = :id::uuid
    and r.state = 'queued'
returning r.attempt, r.started_at;
