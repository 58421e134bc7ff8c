-- What a worker needs to execute runs of these jobs: the payload, for runs without their own, and
-- whether runs must not overlap. The payload is that of the definition in force at the run's
-- version; if that is no longer known, the current one.
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
