-- Give the unfinished runs of a job the payload it had when they were made, before it gets another.
update rota.live_runs as l
set payload = :payload::jsonb
where
    l.job_id = :id::uuid
    and l.payload is null
    and l.id = any(:run_ids::uuid[]);
