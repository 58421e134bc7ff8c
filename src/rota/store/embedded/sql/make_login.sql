-- The login of Rota's processes, no superuser, and the group roles that migrations look for. From
-- PostgreSQL 16 on, CREATEROLE is over roles that one has made; before, it is nearly everything.
do $$
declare
    member text;
begin
    if to_regrole('rota') is null then
        create role rota;
    end if;
    execute format(
        'alter role rota login createdb %s password %L',
        case
            when current_setting('server_version_num')::integer >= 160000 then 'createrole'
            else 'nocreaterole'
        end,
        '{password}'
    );
    foreach member in array array['rota_api', 'rota_service', 'rota_worker'] loop
        if to_regrole(member) is null then
            execute format('create role %I nologin', member);
        end if;
        execute format('grant %I to rota with admin option', member);
    end loop;
    grant rota_api to rota_service;
    -- Benchmarks begin with a checkpoint.
    grant pg_checkpoint to rota;
    -- Which tenant a login of an application sees (docs/howto/submit-in-a-transaction.md).
    grant set on parameter rota.tenant to rota with grant option;
    alter role rota_superuser nologin password null;
end
$$;
