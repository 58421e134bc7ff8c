-- Record from which run another one was created, and for whom.
insert into rota.replays (run_id, replay_of, tenant_id, asked_by, asked_at)
values (
    :run_id::uuid, :replay_of::uuid, :tenant_id::integer, :by::text, rota.now()
)
returning run_id as id;
