-- Defects of the role of row-level security, and tables with a tenant that it does not protect.
with api as (
    select
        r.oid,
        r.rolsuper or r.rolbypassrls as is_unbound
    from pg_roles as r
    where r.rolname = 'rota_api'
)

select 'there is no role rota_api' as hole
where not exists (select 1 from api)
union all
select 'the role rota_api passes row level security' as hole
from api as r
where r.is_unbound
union all
select 'the role rota_api owns rota.' || c.relname as hole
from api as r
inner join pg_class as c on r.oid = c.relowner
where c.relnamespace = 'rota'::regnamespace
union all
select 'rota.' || c.relname || ' lets rota_api see all tenants' as hole
from api as r
cross join pg_class as c
where
    c.relnamespace = 'rota'::regnamespace
    and c.relkind in ('r', 'p')
    and has_any_column_privilege(r.oid, c.oid, 'select, insert, update')
    and (
        c.relispartition
        or exists (
            select 1 from pg_attribute as a
            where
                a.attrelid = c.oid
                and a.attname in ('tenant_id', 'run_id')
                and not a.attisdropped
        )
    )
    and not (
        c.relrowsecurity
        and exists (
            select 1 from pg_policy as p
            where
                p.polrelid = c.oid
                and p.polname = 'tenant_wall'
                and r.oid = any(p.polroles)
        )
    );
