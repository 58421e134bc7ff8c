-- How far the event relay and each sink have read (docs/adr/0053-event-relay.md). Metrics and
-- alerts compute a lag as rota.now() - complete_until, per name: 'relay', or 'sink:NAME'.
create table rota.relays (
    name text primary key check (length(name) between 1 and 200),
    server text not null check (length(server) between 1 and 200),
    since timestamptz not null,
    complete_until timestamptz not null,
    moves bigint not null default 0,
    events bigint not null default 0
) with (fillfactor = 50);
comment on table rota.relays is
'How far the event relay and each sink have read the rows that became events.';
comment on column rota.relays.server is
'System identifier and timeline of the server that wrote the position. If they change, the reader
goes back ten minutes.';
comment on column rota.relays.since is
'Every row with an earlier time was handed over, or can no longer be committed.';
comment on column rota.relays.complete_until is
'Every row that was committed before this time was handed over. The lag is rota.now() minus this.';
comment on column rota.relays.moves is 'Rises with every move; a move names the number it expects.';
comment on column rota.relays.events is 'How many events were handed over so far.';

insert into rota.role_grants (relation, service, worker) values
('relays', 'all', '');

select rota.grant_roles();
