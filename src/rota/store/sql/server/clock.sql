-- The time of the database's clock, which decides.
select rota.now() as now;
