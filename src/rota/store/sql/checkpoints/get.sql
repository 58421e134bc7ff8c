-- The last progress and checkpoint of runs.
select
    n.run_id,
    n.attempt,
    n.noted_at,
    n.progress,
    n.message,
    n.checkpoint
from rota.run_notes as n
where n.run_id = any(:run_ids::uuid[]);
