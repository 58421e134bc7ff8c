-- Lock a run that this session executes, so that one writer at a time adds to its output. No row
-- means that the session no longer holds it.
select r.attempt
from rota.live_runs as r
where
    r.id = :id::uuid
    and r.session_id = :session_id::uuid
for no key update of r;
