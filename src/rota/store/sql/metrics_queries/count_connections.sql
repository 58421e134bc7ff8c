-- The connections to this database by state; a state that the role may not see is "unknown".
select
    coalesce(a.state, 'unknown') as state,
    count(*) as number,
    current_setting('max_connections')::integer as most
from pg_stat_activity as a
where
    a.datname = current_database()
    and a.backend_type = 'client backend'
group by 1
order by 1;
