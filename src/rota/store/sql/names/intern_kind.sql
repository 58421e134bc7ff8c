-- The id of a kind, made when it is new. The read comes first: an insert that conflicts
-- would still use up an id and write a dead row.
with known as (
    select k.id from rota.kinds as k
    where k.name = :name::text
),

made as (
    insert into rota.kinds (name)
    select :name::text
    where not exists (select 1 from known)
    on conflict (name) do nothing
    returning id
)

select known.id from known
union all
select made.id from made;
