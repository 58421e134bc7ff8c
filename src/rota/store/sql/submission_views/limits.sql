-- The limits of gates: those that submissions requested, not the order of a job's own runs.
select
    g.id,
    substr(g.key, 5) as key,
    g.most,
    g.rate_count,
    g.rate_per,
    g.rate_burst
from rota.gates as g
where
    g.id = any(:ids::integer[])
    and g.key like 'key:%';
