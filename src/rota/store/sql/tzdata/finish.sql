-- All ticks to come are computed with the rules that were being applied.
update rota.tzdata
set
    version = target,
    target = null,
    position = null
where target = :target::text
returning version;
