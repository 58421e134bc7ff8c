-- Record that all future ticks are computed with the applied rules.
update rota.tzdata
set
    version = target,
    target = null,
    position = null
where target = :target::text
returning version;
