-- Store the first position of a relay or sink. No row: it has one already.
insert into rota.relays (name, server, since, complete_until)
values (:name::text, :server::text, :since::timestamptz, :since::timestamptz)
on conflict (name) do nothing
returning name, server, since, complete_until, moves, events;
