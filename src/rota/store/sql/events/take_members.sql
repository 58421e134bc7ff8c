-- Remove and return the members of batches that become runs now.
with taken as (
    delete from rota.event_members as m
    where m.run_id = any(:run_ids::uuid[])
    returning m.run_id, m.part, m.event_id
)

select
    t.run_id,
    t.part,
    t.event_id,
    e.body
from taken as t
inner join rota.events as e on t.event_id = e.id
order by t.run_id, t.part;
