-- Unfinished members that were not asked to stop.
select r.id
from rota.live_runs as r
where
    r.id >= :first_id::uuid
    and r.id <= :last_id::uuid
    and r.graph_run_id = :run_id::uuid
    and r.state <> 'cancelling'
order by r.id
limit :most::integer;
