-- Insert a backfill, which any node then continues. No row means that the job has an unfinished
-- one.
insert into rota.backfills (
    id, tenant_id, job_id, since, until, schedule, picks, newest_first, at_once, priority, payload,
    gate_id, reached, expected, is_guess, look_at, created_at, created_by
)
select
    :id::uuid,
    :tenant_id::integer,
    :job_id::uuid,
    :since::timestamptz,
    :until::timestamptz,
    :schedule::jsonb,
    :picks::text,
    :newest_first::boolean,
    :at_once::integer,
    :priority::smallint,
    :payload::jsonb,
    :gate_id::integer,
    case when :newest_first::boolean then :until::timestamptz else :since::timestamptz end,
    :expected::bigint,
    :is_guess::boolean,
    clock.now as look_at,
    clock.now as created_at,
    :created_by::text
from (select rota.now() as now) as clock
on conflict (job_id) where state in ('running', 'paused', 'cancelling') do nothing
returning id;
