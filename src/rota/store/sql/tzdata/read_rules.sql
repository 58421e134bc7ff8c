-- The stored rules, and the previous ones where they differed.
select
    z.zone,
    z.rules,
    z.previous
from rota.zone_rules as z
order by z.zone;
