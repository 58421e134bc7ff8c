-- The run from which another one was created, as the reason of the newer one.
select
    p.run_id as id,
    jsonb_build_object('replay_of', p.replay_of, 'by', p.asked_by) as reason
from rota.replays as p
where
    p.run_id = :run_id::uuid
    and p.tenant_id = :tenant_id::integer;
