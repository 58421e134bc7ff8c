-- The jobs that use a calendar and whose next tick it may change: active ones, and those that a
-- scheduler quarantined because of a calendar. A paused job is checked when it is resumed.
select
    j.id,
    j.state = 'quarantined' as is_held
from rota.jobs as j
where
    j.tenant_id = :tenant_id::integer
    and (
        j.state = 'active'
        or (j.state = 'quarantined' and starts_with(j.held ->> 'reason', 'calendars: '))
    )
    and j.schedule -> 'calendars' ? :name::text
order by j.id
limit :most::integer;
