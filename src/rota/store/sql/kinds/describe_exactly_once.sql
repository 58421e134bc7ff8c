-- Store which kinds can complete a run in its handler's transaction; only changes are written. In
-- the order of their ids: after an upgrade, all workers report at the same time.
with changed as (
    select
        k.id,
        g.exactly_once
    from unnest(:kinds::text[], :capable::boolean[]) as g (name, exactly_once)
    inner join rota.kinds as k on g.name = k.name
    where k.exactly_once is distinct from g.exactly_once
    order by k.id
    for update of k
)

update rota.kinds as k
set exactly_once = c.exactly_once
from changed as c
where k.id = c.id
returning k.id;
