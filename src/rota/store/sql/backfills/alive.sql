-- The runs of a backfill that have not been seen to end.
select w.run_id as id
from rota.backfill_runs as w
where w.backfill_id = :id::uuid
order by w.run_id;
