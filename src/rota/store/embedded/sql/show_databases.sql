-- The databases that hold what users have made.
select datname from pg_database where datallowconn and not datistemplate;
