-- The run of a submission that is known by another id than its run's: one that was a job in an
-- earlier release, or whose first run was deleted and that was run again. The oldest, because that
-- is the submission itself. A row of rota.jobs with the id means that this is not a submission.
with found as (
    select s.id
    from rota.scheduled_runs as s
    where
        s.tenant_id = :tenant_id::integer
        and s.job_id = :job_id::uuid
    union all
    select l.id
    from rota.live_runs as l
    where
        l.job_id = :job_id::uuid
        and l.state in ('blocked', 'queued', 'retrying')
        and l.trigger <> 'graph'
        and l.tenant_id = :tenant_id::integer
    union all
    select l.id
    from rota.live_runs as l
    where
        l.job_id = :job_id::uuid
        and l.state in ('running', 'cancelling')
        and l.trigger <> 'graph'
        and l.tenant_id = :tenant_id::integer
    union all
    (
        select r.id
        from rota.runs as r
        where
            (r.job_id, r.id) >= (:job_id::uuid, '00000000-0000-0000-0000-000000000000'::uuid)
            and r.job_id <= :job_id::uuid
            and r.trigger <> 'graph'
            and r.tenant_id = :tenant_id::integer
        order by r.job_id asc, r.id asc
        limit 1
    )
)

select f.id
from found as f
where
    not exists (
        select 1 from rota.jobs as j
        where j.id = :job_id::uuid
    )
order by f.id
limit 1;
