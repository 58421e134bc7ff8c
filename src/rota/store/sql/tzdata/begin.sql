-- Start to apply newer rules, or the same again, from the first cursor on.
update rota.tzdata
set
    target = :target::text,
    position = null,
    looked_at = 0,
    moved = 0,
    older_seen_at = null
where
    version is not null
    and coalesce(target, version) is not distinct from :applied::text
returning version;
