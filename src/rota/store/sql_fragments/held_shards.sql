-- The shards of the batch that the scheduler still owns, locked against a new owner.
with held as materialized (
    select s.id
    from unnest(:shards::smallint[], :epochs::bigint[]) as mine (id, epoch)
    inner join rota.shards as s on mine.id = s.id and mine.epoch = s.epoch
    where s.owner = :owner::uuid
    order by s.id
    for share of s
),
