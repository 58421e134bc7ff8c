-- Delete the origins of runs, once they are older than history is kept.
delete from rota.replays as p
where
    p.run_id in (
        select old.run_id
        from rota.replays as old
        where old.asked_at < rota.now() - :keep::interval
        limit :most::integer
    )
returning p.run_id as id;
