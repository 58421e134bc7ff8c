-- How many runs of the given ids' range ended since a time, by their final state.
select
    r.state,
    count(*) as number
from rota.runs as r
where
    r.id >= :from_id::uuid
    and r.finished_at >= :since::timestamptz
group by r.state
order by r.state;
