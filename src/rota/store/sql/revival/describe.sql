-- Give a run that was made from a submission what that one carries beside its payload.
update rota.live_runs as l
set
    name = r.name,
    labels = r.labels,
    user_id = r.user_id,
    submitter = :by::text
from rota.runs as r
where
    l.id = :run_id::uuid
    and r.id = :replay_of::uuid
    and r.tenant_id = :tenant_id::integer
returning l.id;
