-- The incidents that a message of each group names: new and worse ones first.
select
    g.id as group_id,
    i.id,
    i.state,
    i.severity,
    i.title,
    i.condition,
    i.subject_kind,
    i.subject_name,
    i.opened_at,
    i.resolved_at,
    i.resolution,
    i.facts,
    i.count as bad_runs,
    i.labels
from unnest(:group_ids::uuid[]) as g (id)
cross join lateral (
    select o.* from rota.incidents as o
    where
        o.group_id = g.id
        and (
            (
                o.state <> 'resolved'
                and o.inhibited_by is null
                and coalesce(o.silenced_until <= :now::timestamptz, true)
            )
            or (o.state = 'resolved' and o.announced_at is not null and not o.announced_end)
        )
    order by
        o.state = 'resolved',
        array_position(array['page', 'warning', 'info'], o.severity),
        o.announced_at is not null,
        o.opened_at desc,
        o.id asc
    limit :most::integer
) as i;
