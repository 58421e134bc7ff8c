-- Like read.sql, locked for the one process that applies rules: no row while another one does.
select
    t.version,
    t.target,
    t.position,
    t.looked_at,
    t.moved,
    t.older_seen_at,
    coalesce(t.older_seen_at < rota.now() - :gone_after::interval, false) as older_gone
from rota.tzdata as t
for update skip locked;
