-- Forget the external run of a ping: it has ended.
delete from rota.ping_runs as r
where
    r.ping_id = :ping_id::uuid
    and r.rid = :rid::text
returning r.run_id;
