-- How many runs of a tenant have ids in the given slices.
select coalesce(sum(part.number), 0)::bigint as number
from unnest(:lows::uuid[], :highs::uuid[]) as slice (low, high)
cross join
    lateral (
        select count(*) as number
        from rota.runs as u
        where
            u.tenant_id = :tenant_id::integer
            and u.id >= slice.low
            and u.id < slice.high
    ) as part;
