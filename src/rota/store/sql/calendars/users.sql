-- A few jobs that use a calendar.
select j.name
from rota.jobs as j
where
    j.tenant_id = :tenant_id::integer
    and j.state not in ('deleted', 'finished')
    and j.schedule -> 'calendars' ? :name::text
order by j.created_at, j.id
limit :most::integer;
