-- The thread of an incident, first entry first.
select
    e.at,
    e.type,
    e.by,
    e.text
from rota.incident_events as e
where
    e.incident_id = :incident_id::uuid
    and e.tenant_id = :tenant_id::integer
order by e.id
limit :most::integer;
