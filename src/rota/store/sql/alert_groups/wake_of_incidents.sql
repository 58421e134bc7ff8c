-- Make a process look at the groups of these incidents. Locked in a fixed order, before the
-- incidents change.
with chosen as (
    select g.id from rota.alert_groups as g
    where
        g.id in (
            select i.group_id from rota.incidents as i
            where i.id = any(:incident_ids::uuid[])
        )
    order by g.id
    for update
)

update rota.alert_groups as g
set next_at = least(coalesce(g.next_at, :at::timestamptz), :at::timestamptz)
from chosen as c
where g.id = c.id
returning g.id;
