-- Creates the login of Rota's processes, which is not a superuser, and the group roles that
-- migrations expect. Since PostgreSQL 16, CREATEROLE covers only roles that the login has created;
-- before, it covers nearly everything.
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
    -- Sets which tenant an application's login sees (docs/howto/submit-in-a-transaction.md).
    grant set on parameter rota.tenant to rota with grant option;
    alter role rota_superuser nologin password null;
end
$$;
