-- Drop runs that were just made although they had ended before. The insert looked at history with
-- its snapshot and then waited for whoever was ending the run; this statement, in the same
-- transaction, looks again, and by now an ended run is in history.
delete from rota.live_runs as l
where
    l.id = any(:ids::uuid[])
    and exists (
        select 1 from rota.runs as done
        where
            done.id = l.id
            and done.tenant_id = l.tenant_id
    )
returning l.id;
