-- A fire that ends a job's cursor leaves the job itself alone: writing its row costs as much as the
-- whole rest of the fire (docs/adr/0012-firing.md). It notes the job here, and upkeep marks it.

create table rota.ended_jobs (job_id uuid not null)
with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000);

-- The state of a job as everybody should see it: without a tick to come it is finished, marked or
-- not yet.
create function rota.shown_state(j rota.jobs) returns rota.job_state
language sql stable parallel safe
as $$
    select case
        when
            j.state = 'active'
            and j.schedule is not null
            and not exists (select 1 from rota.cursors as c where c.job_id = j.id)
            then 'finished'::rota.job_state
        else j.state
    end
$$;
