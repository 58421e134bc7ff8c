-- Copy the name, labels and user of a submission to a run that was created from it.
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
