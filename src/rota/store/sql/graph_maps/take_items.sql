-- The rows that hold the items from one index to another, in order; the first row may begin before
-- that range, and the last may end after it.
select
    i.first,
    i.items
from rota.graph_items as i
where
    i.run_id = :run_id::uuid
    and i.step = :step::integer
    and i.first < :until::integer
    and i.first + i.number > :made::integer
order by i.first;
