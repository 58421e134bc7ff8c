-- What becomes of the ticks of a job while its queue is paused (docs/adr/0029-paused-queues.md).

create type rota.when_queue_paused as enum ('skip', 'accumulate');

alter table rota.jobs
add column when_queue_paused rota.when_queue_paused not null default 'skip';
alter table rota.cursors
add column when_queue_paused rota.when_queue_paused not null default 'skip';

-- Who paused it: a tick that is passed over for it says so.
alter table rota.queues add column paused_by text;
-- Every batch of ticks asks which they are, and mostly there is none.
create index queues_paused on rota.queues (id) where paused_at is not null;
