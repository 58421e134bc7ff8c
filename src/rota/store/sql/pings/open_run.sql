-- Remember the external run of work that has begun. A second start with the same rid replaces the
-- first, whose run ends as lost when its lease expires.
insert into rota.ping_runs as r (ping_id, rid, tenant_id, run_id, session_id, began_at)
values (
    :ping_id::uuid,
    :rid::text,
    :tenant_id::integer,
    :run_id::uuid,
    :session_id::uuid,
    rota.now()
)
on conflict (ping_id, rid) do update
    set
        run_id = excluded.run_id,
        session_id = excluded.session_id,
        began_at = excluded.began_at
returning r.run_id;
