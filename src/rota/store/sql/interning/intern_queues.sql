-- The ids of queue names, created if new. The read comes first: a conflicting insert would still
-- use up an id and write a dead row. A missing name was created by another transaction after this
-- statement began; a retry finds it.
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
