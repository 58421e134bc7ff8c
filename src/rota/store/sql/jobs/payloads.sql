-- What a worker needs to know of jobs to carry their runs out: the payload, for runs that carry
-- none of their own, and whether runs of a job must not overlap. The payload is that of the
-- definition in force at the version of the run; where that is not known any more, that of now.
select
    j.id,
    i.version,
    case when u.number is null then j.payload else u.payload end as payload,
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
from unnest(:ids::uuid[], :versions::integer[]) as i (id, version)
inner join rota.jobs as j on i.id = j.id
left join lateral rota.definition_used(i.id, i.version) as u on true;
