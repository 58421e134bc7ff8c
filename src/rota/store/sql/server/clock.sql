-- The time by the clock that decides.
select rota.now() as now;
