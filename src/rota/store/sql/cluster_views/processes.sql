-- The processes with a valid lease and where their observability listeners answer. A process that
-- runs everything has a session for each role, with the same name and address.
select
    s.name,
    s.observe_url,
    max(s.version) as version,
    array_agg(distinct s.role::text order by s.role::text) as roles,
    min(s.started_at) as started_at
from rota.sessions as s
where
    s.expires_at > (select rota.now())
    and s.observe_url is not null
group by s.name, s.observe_url
order by min(s.started_at) asc, s.name asc
limit :most::integer;
