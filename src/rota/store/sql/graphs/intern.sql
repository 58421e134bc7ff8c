-- Intern definitions of a tenant. One that another process is inserting is found by the second
-- pass.
with given as (
    select
        n.digest,
        n.definition
    from unnest(:digests::text[], :definitions::jsonb[]) as n (digest, definition)
),

known as materialized (
    select
        k.id,
        k.digest
    from rota.graphs as k
    where
        k.tenant_id = :tenant_id::integer
        and k.digest = any(:digests::text[])
        and (k.unused_since is null or rota.keep_interned('graphs', k.id))
),

made as (
    insert into rota.graphs (tenant_id, digest, definition)
    select
        :tenant_id::integer,
        g.digest,
        g.definition
    from given as g
    where g.digest not in (select known.digest from known)
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
    k.id,
    k.digest
from known as k;
