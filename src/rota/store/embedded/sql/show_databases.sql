-- The databases that contain objects of users.
select datname from pg_database where datallowconn and not datistemplate;
