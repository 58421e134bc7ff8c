-- A job that waits for an event, or to be asked, has no cursor and has not ended.
create or replace function rota.shown_state(j rota.jobs) returns rota.job_state
language sql stable parallel safe
as $$
    select case
        when
            j.state = 'active'
            and j.schedule is not null
            and not j.schedule ?| array['on_demand', 'event']
            and not exists (select 1 from rota.cursors as c where c.job_id = j.id)
            then 'finished'::rota.job_state
        else j.state
    end
$$;
