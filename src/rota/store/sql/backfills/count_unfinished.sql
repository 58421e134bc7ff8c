-- How many runs of a backfill have not ended, as far as known.
select count(*) as number
from rota.backfill_runs as w
where w.backfill_id = :id::uuid;
