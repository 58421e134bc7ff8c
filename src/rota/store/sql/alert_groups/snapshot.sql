-- Count the incidents of groups: what messages may name, what is new, what is held back.
select
    i.group_id,
    count(*) filter (where s.is_open and not s.is_held) as firing,
    count(*) filter (where s.is_open and not s.is_held and i.announced_at is null) as unannounced,
    count(*) filter (
        where
        s.is_open and not s.is_held and i.announced_at is not null
        and array_position(s.ranks, i.severity) > array_position(s.ranks, i.announced_severity)
    ) as worse,
    count(*) filter (
        where
        s.is_open and not s.is_held and i.announced_at is not null
        and i.is_flapping and not i.announced_flapping
    ) as flapping,
    count(*) filter (
        where
        s.is_open and not s.is_held and i.announced_at is not null
        and i.announced_flapping and not i.is_flapping
    ) as steady,
    count(*) filter (
        where not s.is_open and i.announced_at is not null and not i.announced_end
    ) as ended,
    count(*) filter (
        where s.is_open and not s.is_held and i.state = 'open'
    ) as unacknowledged,
    count(*) filter (
        where s.is_open and not s.is_held and i.state = 'open' and not i.is_flapping
    ) as repeating,
    count(*) filter (where s.is_open and s.is_held) as held,
    min(i.silenced_until) filter (
        where s.is_open and i.silenced_until > :now::timestamptz
    ) as held_until,
    max(array_position(s.ranks, i.severity)) filter (
        where s.is_open and not s.is_held
    ) as severity_rank,
    max(array_position(s.ranks, i.severity)) as any_severity_rank
from rota.incidents as i
cross join
    lateral (
        select
            i.state <> 'resolved' as is_open,
            i.inhibited_by is not null
            or coalesce(i.silenced_until > :now::timestamptz, false) as is_held,
            array['info', 'warning', 'page'] as ranks
    ) as s
where
    i.group_id = any(:group_ids::uuid[])
    and (i.state <> 'resolved' or (i.announced_at is not null and not i.announced_end))
group by i.group_id;
