-- The ids of schedule bodies by their digests, created if new. A missing digest was created by
-- another transaction after this statement began; a retry finds it.
with known as (
    select
        k.id,
        k.digest
    from rota.schedules as k
    where
        k.digest = any(:digests::bytea[])
        and (k.unused_since is null or rota.keep_interned('schedules', k.id))
),

made as (
    insert into rota.schedules (digest, body)
    select
        n.digest,
        n.body
    from unnest(:digests::bytea[], :bodies::jsonb[]) as n (digest, body)
    where n.digest not in (select known.digest from known)
    order by n.digest
    on conflict (digest) do nothing
    returning id, digest
)

select
    known.id,
    known.digest
from known
union all
select
    made.id,
    made.digest
from made;
