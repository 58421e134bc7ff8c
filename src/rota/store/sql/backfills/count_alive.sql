-- How many runs of a backfill have not been seen to end.
select count(*) as number
from rota.backfill_runs as w
where w.backfill_id = :id::uuid;
