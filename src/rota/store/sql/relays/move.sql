-- Move a position. No row: another process has moved it.
update rota.relays as r
set
    server = :server::text,
    since = :since::timestamptz,
    complete_until = :complete_until::timestamptz,
    moves = r.moves + 1,
    events = r.events + :events::bigint
where
    r.name = :name::text
    and r.moves = :moves::bigint
returning r.name, r.server, r.since, r.complete_until, r.moves, r.events;
