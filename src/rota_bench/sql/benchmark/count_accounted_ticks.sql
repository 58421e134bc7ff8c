-- How many ticks of a kind are recorded, run or not; one record may cover several ticks (S11).
select
    coalesce(
        sum(
            case
                when r.state in ('skipped', 'missed', 'coalesced')
                    then coalesce((r.reason ->> 'count')::bigint, 1)
                else 1
            end
        ),
        0
    )::bigint as ticks
from rota.runs as r
where
    r.kind_id = :kind_id::integer
    and r.scheduled_at >= :since::timestamptz
    and r.scheduled_at < :until::timestamptz;
