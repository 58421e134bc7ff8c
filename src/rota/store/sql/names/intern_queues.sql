-- The ids of queue names, made when they are new. The read comes first: an insert that conflicts
-- would still use up an id and write a dead row. A name that is not returned was made by somebody
-- else since this statement began; asking again finds it.
with known as (
    select
        k.id,
        k.name
    from rota.queues as k
    where
        k.name = any(:names::text[])
        and (k.unused_since is null or rota.keep_interned('queues', k.id))
),

made as (
    insert into rota.queues (name, made_by)
    select
        n.name,
        :made_by::integer
    from unnest(:names::text[]) as n (name)
    where n.name not in (select known.name from known)
    order by n.name
    on conflict (name) do nothing
    returning id, name
)

select
    known.id,
    known.name
from known
union all
select
    made.id,
    made.name
from made;
