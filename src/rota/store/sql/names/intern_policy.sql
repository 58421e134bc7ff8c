-- The id of a policy's body by its digest, made when it is new.
with known as (
    select p.id from rota.policies as p
    where p.digest = :digest::bytea
),

made as (
    insert into rota.policies (digest, body)
    select
        :digest::bytea,
        :body::jsonb
    where not exists (select 1 from known)
    on conflict (digest) do nothing
    returning id
)

select known.id from known
union all
select made.id from made;
