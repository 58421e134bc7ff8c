-- Record who requeued runs, next to their last outcome. The last attempt's row was written when
-- they were requeued, earlier in the same transaction.
update rota.attempts as a
set reason = a.reason || jsonb_build_object('replayed_by', :by::text)
from rota.live_runs as l
where
    l.id = any(:ids::uuid[])
    and a.run_id = l.id
    and a.attempt = l.attempt
    and a.reason ? 'replayed'
returning a.run_id as id;
