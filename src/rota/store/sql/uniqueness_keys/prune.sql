-- Delete keys that are no longer held. A key that is being taken is locked and stays; so does one
-- that was taken a moment ago, because this statement may not see the new holder's run yet.
delete from rota.unique_keys as u
where
    (u.tenant_id, u.digest) in (
        select
            old.tenant_id,
            old.digest
        from rota.unique_keys as old
        where
            old.held_until < rota.now() - interval '5 minutes'
            and not exists (
                select 1 from rota.live_runs as l
                where l.id = old.run_id
            )
            -- A rescheduled submission holds its key, whether it was a run before or not.
            and not exists (
                select 1 from rota.scheduled_runs as s
                where
                    s.tenant_id = old.tenant_id
                    and s.id = old.job_id
            )
            and not exists (
                select 1 from rota.scheduled_runs as s
                where
                    s.tenant_id = old.tenant_id
                    and s.job_id = old.job_id
            )
            and (
                old.run_id is not null
                or not exists (
                    select 1 from rota.cursors as c
                    where c.job_id = old.job_id
                )
                and not exists (
                    select 1 from rota.live_runs as l
                    where
                        l.job_id = old.job_id
                        and l.state in ('blocked', 'queued', 'retrying')
                        and l.trigger <> 'graph'
                )
                and not exists (
                    select 1 from rota.live_runs as l
                    where
                        l.job_id = old.job_id
                        and l.state in ('running', 'cancelling')
                        and l.trigger <> 'graph'
                )
            )
        order by old.held_until
        limit :most::integer
        for update of old skip locked
    )
returning u.tenant_id;
