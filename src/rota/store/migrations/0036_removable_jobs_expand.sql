-- rota: outside-transaction
-- Jobs that retention may remove, the oldest first.
create index concurrently if not exists jobs_removable
on rota.jobs (updated_at)
where state in ('deleted', 'finished');
