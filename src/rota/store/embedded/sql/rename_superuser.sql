-- Frees the name of the login in a cluster of an earlier release, where it was the superuser. A
-- session cannot rename its own user, so a temporary second superuser does it.
do $$
begin
    create role rota_renaming superuser;
    set local session authorization rota_renaming;
    alter role rota rename to rota_superuser;
    set local session authorization rota_superuser;
    drop role rota_renaming;
end
$$;
