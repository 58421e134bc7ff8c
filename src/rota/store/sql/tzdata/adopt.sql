-- Note the rules that are in use, in a cluster that has not noted any.
update rota.tzdata
set version = :version::text
where version is null
returning version;
