-- How far the event relay and each sink are behind. A sink that no process has tried for an hour is
-- no longer configured.
select
    r.name,
    rota.now() - r.complete_until as lag
from rota.relays as r
left join rota.named_leases as l on r.name = l.name
where
    r.name not like 'sink:%'
    or l.expires_at > rota.now() - interval '1 hour'
order by r.name;
