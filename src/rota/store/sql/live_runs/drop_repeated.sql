-- Delete runs that were just inserted although they had ended before. The insert checked history
-- with its snapshot and then waited for the transaction that ended the run; this statement, in the
-- same transaction, checks again, and by now an ended run is in history.
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
