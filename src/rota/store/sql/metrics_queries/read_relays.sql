-- How far the event relay and each sink are behind.
select
    r.name,
    rota.now() - r.complete_until as lag
from rota.relays as r
order by r.name;
