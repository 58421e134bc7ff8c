-- Remove the ended runs of a backfill from its list and count their outcomes: a run that is no
-- longer live is in history, both as of one snapshot. A run in neither table was dropped with its
-- day before it was counted; it is unknown whether it succeeded, so it counts as failed. Lateral
-- and limited, because the planner has no statistics of this small table and might read all of
-- history to join it.
with ended as (
    select
        w.run_id,
        done.state
    from rota.backfill_runs as w
    left join
        lateral (
            select r.state
            from rota.runs as r
            where
                r.id = w.run_id
                and r.tenant_id = w.tenant_id
            limit 1
        ) as done
        on true
    left join
        lateral (
            select l.id
            from rota.live_runs as l
            where l.id = w.run_id
            limit 1
        ) as alive
        on true
    where
        w.backfill_id = :id::uuid
        and alive.id is null
),

struck as (
    delete from rota.backfill_runs as w
    using ended as e
    where
        w.backfill_id = :id::uuid
        and w.run_id = e.run_id
)

select
    count(*) filter (where e.state = 'succeeded') as succeeded,
    count(*) filter (
        where
        e.state is null
        or e.state in ('dead', 'lost', 'quarantined', 'expired')
    ) as failed,
    count(*) filter (
        where
        e.state not in ('succeeded', 'dead', 'lost', 'quarantined', 'expired')
    ) as cancelled
from ended as e;
