-- Policies by id, for a worker's cache.
select
    p.id,
    p.body
from rota.policies as p
where p.id = any(:ids::integer[]);
