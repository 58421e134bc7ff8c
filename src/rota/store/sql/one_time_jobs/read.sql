-- One-time jobs of an earlier release in the order of their ids, each locked, with the position of
-- its cursor. Reads a limited number of jobs; the next pass begins after the last of them.
-- `is_movable` is false, and the job stays, while it is held or has an unfinished run, because a
-- worker may be about to read its payload; until its due time if it has run before, because that
-- run needs the job too; if it is a graph, or declared by a file or by code; or if its schedule has
-- rules that only a job can follow. `defined_since` is set for jobs of this release.
with looked as materialized (
    select
        j.id,
        j.state,
        j.graph_id,
        j.schedule,
        j.labels,
        j.defined_since
    from rota.jobs as j
    where j.id > :after::uuid
    order by j.id
    limit :look::integer
    for update skip locked
)

select
    l.id,
    c.tick_at,
    c.version,
    (
        l.defined_since is null
        and l.graph_id is null
        and not l.labels ?| array['rota.project', 'rota.app', 'rota.declared']
        and (
            jsonb_typeof(l.schedule -> 'at') = 'string'
            or l.schedule ? 'immediate'
        )
        and not l.schedule ?| array['cron', 'every', 'rrule', 'fixed_delay', 'event', 'on_demand']
        and jsonb_strip_nulls(coalesce(l.schedule -> 'window', '{}')) = '{}'
        and jsonb_strip_nulls(coalesce(l.schedule -> 'misfire', :misfire::jsonb)) = :misfire::jsonb
        and case
            when c.job_id is null then l.state in ('active', 'finished')
            else
                l.state = 'active'
                and c.fire_at is not null
                and not exists (
                    select 1 from rota.runs as r
                    where r.job_id = l.id
                )
        end
        and not exists (
            select 1 from rota.live_runs as r
            where r.job_id = l.id
        )
    ) as is_movable
from looked as l
left join rota.cursors as c on l.id = c.job_id
order by l.id;
