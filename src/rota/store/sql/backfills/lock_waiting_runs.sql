-- The waiting runs of a backfill, locked until the end of the transaction. A run that a worker is
-- claiming at this moment is left out: it runs.
select l.id
from rota.backfill_runs as w
cross join
    lateral (
        select r.id
        from rota.live_runs as r
        where
            r.id = w.run_id
            and r.session_id is null
            and r.state <> 'blocked'
        limit 1
        for update skip locked
    ) as l
where w.backfill_id = :id::uuid;
