-- Store the results of checks: whether each ping is down, and when to look again.
update rota.pings as p
set
    is_down = checked.is_down,
    check_at = checked.check_at
from
    unnest(
        :ids::uuid[], :downs::boolean[], :check_ats::timestamptz[]
    ) as checked (id, is_down, check_at)
where p.id = checked.id
returning p.id;
