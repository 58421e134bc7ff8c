-- Stay behind the wall, as nobody in particular.
select set_config('rota.tenant', '', true) as tenant;
