-- Store the rules in use, in a cluster without stored rules.
update rota.tzdata
set version = :version::text
where version is null
returning version;
