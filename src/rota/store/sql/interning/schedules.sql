-- Schedules by id, for a scheduler's cache.
select
    s.id,
    s.body
from rota.schedules as s
where s.id = any(:ids::integer[]);
