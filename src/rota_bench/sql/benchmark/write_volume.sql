-- How much was written so far: rows of the tables that hold submissions, and bytes of the log.
select
    (
        (select count(*) from rota.jobs)
        + (select count(*) from rota.cursors)
        + (select count(*) from rota.live_runs)
        + (select count(*) from rota.scheduled_runs)
        + (select count(*) from rota.runs)
        + (select count(*) from rota.ended_jobs)
        + (select count(*) from rota.audit)
    ) as written_rows,
    (pg_current_wal_insert_lsn() - '0/0')::bigint as wal_bytes;
