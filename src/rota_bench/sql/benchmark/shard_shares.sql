-- How many schedulers hold shards, and how many shards the one with the fewest has.
select
    count(*) as holders,
    coalesce(min(held.shards), 0)::bigint as fewest
from (
    select count(*) as shards
    from rota.shards as s
    where s.owner is not null
    group by s.owner
) as held;
