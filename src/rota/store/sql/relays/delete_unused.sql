-- Delete the positions and leases of sinks that no process has tried for :keep.
with gone as (
    delete from rota.named_leases as l
    where
        l.name like 'sink:%'
        and l.expires_at < rota.now() - :keep::interval
    returning l.name
)

delete from rota.relays as r
using gone as g
where r.name = g.name
returning r.name;
