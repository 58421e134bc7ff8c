-- The login of this connection and its rights. Uses oids: a login without access to the schema may
-- not use names.
select
    current_user::text as name,
    r.rolsuper as is_superuser,
    r.rolbypassrls as bypasses_policies,
    n.oid is not null as has_schema,
    coalesce(pg_has_role(r.oid, n.nspowner, 'usage'), false) as is_owner,
    coalesce(pg_get_userbyid(n.nspowner), '')::text as owner,
    has_database_privilege(r.oid, current_database(), 'create') as may_create,
    array(
        select g.rolname::text
        from pg_roles as g
        where
            g.rolname in ('rota_service', 'rota_worker')
            and pg_has_role(r.oid, g.oid, 'usage')
        order by g.rolname
    ) as member_of,
    (
        select count(*) > 0
        from pg_class as c
        where
            c.relnamespace = n.oid
            and c.relname = 'migrations'
            and has_schema_privilege(r.oid, n.oid, 'usage')
            and has_table_privilege(r.oid, c.oid, 'select')
    ) as has_grants
from pg_roles as r
left join pg_namespace as n on n.nspname = 'rota'
where r.rolname = current_user;
