-- Give definitions of a tenant their ids. One that another process is writing right now comes back
-- with the second look.
with given as (
    select
        n.digest,
        n.definition
    from unnest(:digests::text[], :definitions::jsonb[]) as n (digest, definition)
),

made as (
    insert into rota.graphs (tenant_id, digest, definition)
    select
        :tenant_id::integer,
        g.digest,
        g.definition
    from given as g
    where
        not exists (
            select 1 from rota.graphs as old
            where
                old.tenant_id = :tenant_id::integer
                and old.digest = g.digest
        )
    order by g.digest
    on conflict (tenant_id, digest) do nothing
    returning id, digest
)

select
    m.id,
    m.digest
from made as m
union all
select
    old.id,
    old.digest
from rota.graphs as old
where
    old.tenant_id = :tenant_id::integer
    and old.digest = any(:digests::text[]);
