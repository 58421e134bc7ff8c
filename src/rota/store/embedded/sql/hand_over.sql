-- Gives the databases to the login, and all objects in this one that belong to the superuser and
-- neither to PostgreSQL itself nor to an extension. The superuser of initdb is the role 10, and
-- objects of users begin at 16384.
do $$
declare
    owned record;
begin
    for owned in
        select format('database %I', d.datname) as name
        from pg_database as d
        where
            d.datdba = 10
            and not d.datistemplate
        union all
        select format('schema %I', n.nspname) as name
        from pg_namespace as n
        where
            n.nspowner = 10
            and n.oid >= 16384
            and n.nspname !~ '^pg_'
        union all
        select
            format(
                '%s %s',
                case c.relkind
                    when 'v' then 'view'
                    when 'm' then 'materialized view'
                    when 'S' then 'sequence'
                    when 'f' then 'foreign table'
                    else 'table'
                end,
                c.oid::regclass
            ) as name
        from pg_class as c
        where
            c.relowner = 10
            and c.oid >= 16384
            and c.relkind in ('r', 'p', 'v', 'm', 'S', 'f')
            and not exists (
                -- A member of an extension, or the sequence of a column, which follows its table.
                select 1 from pg_depend as d
                where
                    d.classid = 'pg_class'::regclass
                    and d.objid = c.oid
                    and (
                        d.deptype = 'e'
                        or (
                            d.deptype in ('a', 'i')
                            and d.refclassid = 'pg_class'::regclass
                            and c.relkind = 'S'
                        )
                    )
            )
        union all
        select format('routine %s', p.oid::regprocedure) as name
        from pg_proc as p
        where
            p.proowner = 10
            and p.oid >= 16384
            and not exists (
                select 1 from pg_depend as d
                where
                    d.classid = 'pg_proc'::regclass
                    and d.objid = p.oid
                    and d.deptype = 'e'
            )
        union all
        select format('type %s', t.oid::regtype) as name
        from pg_type as t
        left join pg_class as c on t.typrelid = c.oid
        where
            t.typowner = 10
            and t.oid >= 16384
            and (t.typtype in ('d', 'e', 'r') or c.relkind = 'c')
            and not exists (
                select 1 from pg_depend as d
                where
                    d.classid = 'pg_type'::regclass
                    and d.objid = t.oid
                    and d.deptype = 'e'
            )
    loop
        execute format('alter %s owner to rota', owned.name);
    end loop;
end
$$;
