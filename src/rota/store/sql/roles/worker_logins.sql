-- The logins of workers' open connections, as far as this login may see them.
select
    a.usename::text as name,
    count(*) as connections,
    r.rolsuper as is_superuser,
    coalesce(pg_has_role(r.oid, n.nspowner, 'usage'), false) as is_owner
from pg_stat_activity as a
inner join pg_roles as r on a.usesysid = r.oid
left join pg_namespace as n on n.nspname = 'rota'
where
    a.datname = current_database()
    and a.application_name = 'rota worker'
group by 1, 3, 4
order by 1;
