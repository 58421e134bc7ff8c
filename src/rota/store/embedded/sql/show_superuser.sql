-- What the superuser of initdb is called.
select rolname from pg_roles where oid = 10;
