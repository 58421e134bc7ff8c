-- Services of which one process runs at a time: the event relay, checks of the state of the
-- cluster, the outgoing heartbeat.
create table rota.named_leases (
    name text primary key check (length(name) between 1 and 200),
    owner uuid not null,
    holder text not null check (length(holder) between 1 and 200),
    epoch bigint not null default 1,
    expires_at timestamptz not null
) with (fillfactor = 50);
comment on table rota.named_leases is
'Services of which one process runs at a time, and which process holds each by lease.';
comment on column rota.named_leases.holder is 'Name of the holding process, for people.';
comment on column rota.named_leases.epoch is
'Rises when the owner changes; a holder with an older epoch writes nothing.';

insert into rota.role_grants (relation, service, worker) values
('named_leases', 'all', '');

select rota.grant_roles();
