-- Hold a run that this session carries out, so that its output is added up by one writer at a time.
-- No row means that the session has it no more.
select r.attempt
from rota.live_runs as r
where
    r.id = :id::uuid
    and r.session_id = :session_id::uuid
for no key update of r;
