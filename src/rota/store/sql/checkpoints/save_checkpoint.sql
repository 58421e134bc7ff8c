-- Store the checkpoint of a run while this attempt holds it. No row means that it does not.
insert into rota.run_notes as n (run_id, attempt, noted_at, checkpoint)
select
    r.id,
    r.attempt,
    rota.now(),
    :checkpoint::jsonb
from rota.live_runs as r
where
    r.id = :run_id::uuid
    and r.attempt = :attempt::smallint
    and r.session_id = :session_id::uuid
for share of r
on conflict (run_id) do update
    set
        attempt = excluded.attempt,
        noted_at = excluded.noted_at,
        checkpoint = excluded.checkpoint
    where n.attempt <= excluded.attempt
returning n.run_id;
