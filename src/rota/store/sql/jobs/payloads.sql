-- What a worker needs to know of jobs to carry their runs out: the payload, for runs that carry
-- none of their own, and whether runs of a job must not overlap. A one-time submission has one run.
select
    j.id,
    j.version,
    j.payload,
    (
        j.overlap <> 'allow'
        and coalesce(
            jsonb_exists_any(
                j.schedule,
                array['cron', 'every', 'fixed_delay', 'rrule', 'event', 'on_demand']
            ),
            false
        )
    ) as forbids_overlap
from rota.jobs as j
where j.id = any(:ids::uuid[]);
