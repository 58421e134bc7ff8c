-- The runs of a backfill that have not ended, as far as known.
select w.run_id as id
from rota.backfill_runs as w
where w.backfill_id = :id::uuid
order by w.run_id;
