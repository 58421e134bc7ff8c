-- The external run of a ping that has begun and not ended.
select
    r.run_id,
    r.session_id
from rota.ping_runs as r
where
    r.ping_id = :ping_id::uuid
    and r.rid = :rid::text;
