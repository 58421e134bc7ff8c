-- The same for whoever applies other rules, one at a time: no row while another process does.
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
