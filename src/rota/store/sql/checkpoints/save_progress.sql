-- Store the progress of attempts. An older attempt never overwrites the progress of a newer one.
insert into rota.run_notes as n (run_id, attempt, noted_at, progress, message)
select
    p.run_id,
    p.attempt,
    rota.now(),
    p.progress,
    p.message
from
    unnest(
        :run_ids::uuid[],
        :attempts::smallint[],
        :progresses::real[],
        :messages::text[]
    ) as p (run_id, attempt, progress, message)
order by p.run_id
on conflict (run_id) do update
    set
        attempt = excluded.attempt,
        noted_at = excluded.noted_at,
        progress = excluded.progress,
        message = excluded.message
    where n.attempt <= excluded.attempt
returning n.run_id;
