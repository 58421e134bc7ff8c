-- Record that messages of these groups named or counted their incidents.
update rota.incidents as i
set
    announced_at = coalesce(i.announced_at, :now::timestamptz),
    announced_severity = i.severity,
    announced_flapping = i.is_flapping,
    announced_end = i.state = 'resolved'
where
    i.group_id = any(:group_ids::uuid[])
    and (
        (
            i.state <> 'resolved'
            and i.inhibited_by is null
            and coalesce(i.silenced_until <= :now::timestamptz, true)
            and (
                i.announced_at is null
                or i.announced_severity is distinct from i.severity
                or i.announced_flapping <> i.is_flapping
            )
        )
        or (i.state = 'resolved' and i.announced_at is not null and not i.announced_end)
    );
