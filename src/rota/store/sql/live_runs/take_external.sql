-- Assign a new run to the session of the process that executes it, as a claim would. In the
-- transaction that inserted it: no worker has seen it.
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
