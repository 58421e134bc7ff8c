-- Store the job's payload in its unfinished runs, before the job gets another one.
update rota.live_runs as l
set payload = :payload::jsonb
where
    l.job_id = :id::uuid
    and l.payload is null
    and l.id = any(:run_ids::uuid[]);
