-- The position of a relay or sink.
select
    r.name,
    r.server,
    r.since,
    r.complete_until,
    r.moves,
    r.events
from rota.relays as r
where r.name = :name::text;
