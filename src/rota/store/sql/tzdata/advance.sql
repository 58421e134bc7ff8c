-- Store how far rules were applied. The caller has locked the row.
update rota.tzdata
set
    position = :position::uuid,
    looked_at = looked_at + :looked_at::bigint,
    moved = moved + :moved::bigint
where
    target = :target::text
    and position is not distinct from :before::uuid
returning version;
