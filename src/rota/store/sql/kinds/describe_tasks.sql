-- Store the description and the default policy of kinds; only changes are written. In the order of
-- their ids: after an upgrade, all workers report at the same time.
with changed as (
    select
        k.id,
        g.description,
        g.default_policy
    from
        unnest(:kinds::text[], :descriptions::text[], :policies::jsonb[])
            as g (name, description, default_policy)
    inner join rota.kinds as k on g.name = k.name
    where
        k.description is distinct from g.description
        or k.default_policy is distinct from g.default_policy
    order by k.id
    for update of k
)

update rota.kinds as k
set
    description = c.description,
    default_policy = c.default_policy
from changed as c
where k.id = c.id
returning k.id;
