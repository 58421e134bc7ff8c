-- How many runs of a kind are being executed.
select count(*) as running
from rota.live_runs as l
where
    l.kind_id = :kind_id::integer
    and l.state in ('running', 'cancelling');
