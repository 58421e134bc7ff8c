-- Check the clock conditions of these jobs that are violated at once. Those that another process
-- checks now are skipped.
update rota.watches as w
set next_check_at = rota.now()
where
    (w.expectation_id, w.subject_key) in (
        select
            l.expectation_id,
            l.subject_key
        from rota.watches as l
        where
            l.job_id = any(:job_ids::uuid[])
            and l.condition = any(:conditions::text[])
            and l.state <> 'ok'
            and l.next_check_at > rota.now()
        for update skip locked
    )
returning w.expectation_id, w.subject_key;
