-- What runs of steps came to, for the conditions and payloads of those that follow.
select
    r.id,
    r.state,
    r.result,
    r.reason
from unnest(:ids::uuid[]) as i (id)
inner join rota.runs as r on i.id = r.id;
