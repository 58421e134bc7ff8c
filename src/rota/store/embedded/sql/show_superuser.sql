-- The name of initdb's superuser.
select rolname from pg_roles where oid = 10;
