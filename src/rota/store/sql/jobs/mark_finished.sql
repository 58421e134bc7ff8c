-- Mark jobs as finished that the caller has locked, unless an edit gave them ticks again.
update rota.jobs as j
set
    state = 'finished',
    updated_at = rota.now()
where
    j.id = any(:ids::uuid[])
    and j.state = 'active'
    and not exists (
        select 1 from rota.cursors as c
        where c.job_id = j.id
    )
returning j.id;
