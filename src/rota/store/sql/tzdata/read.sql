-- The time zone rules that future ticks were computed with, and whether others are being applied.
select
    t.version,
    t.target,
    t.position,
    t.looked_at,
    t.moved,
    t.older_seen_at,
    coalesce(t.older_seen_at < rota.now() - :gone_after::interval, false) as older_gone
from rota.tzdata as t;
