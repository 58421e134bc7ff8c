-- The rules that are noted, and those before them where they were others.
select
    z.zone,
    z.rules,
    z.previous
from rota.zone_rules as z
order by z.zone;
