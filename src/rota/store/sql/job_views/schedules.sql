-- The schedules of a tenant's jobs with future ticks, with what identifies their ticks, and its
-- scheduled submissions, each as a schedule with one time. From the cursors, not from the jobs: a
-- tenant may have millions of jobs that ran once and have ended.
(
    select
        c.job_id,
        j.name as job,
        j.schedule,
        c.fired,
        c.tick_at
    from rota.cursors as c
    inner join rota.jobs as j on c.job_id = j.id
    where
        c.tenant_id = :tenant_id::integer
        and c.fire_at is not null
        and j.schedule is not null
    limit :most::integer
)
union all
(
    select
        coalesce(s.job_id, s.id) as job_id,
        coalesce(s.name, k.name, '') as job,
        jsonb_build_object(
            'at', to_char(s.due_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')
        ) as schedule,
        null::integer as fired,
        s.due_at as tick_at
    from rota.scheduled_runs as s
    left join rota.kinds as k on s.kind_id = k.id
    where s.tenant_id = :tenant_id::integer
    limit :most::integer
)
limit :most::integer;
