-- Delete sessions that expired long ago and hold no runs. The second condition prevents a run from
-- becoming an orphan that no reaper can see (F19).
with over as (
    select s.id
    from rota.sessions as s
    where
        s.expires_at = '-infinity'
        and s.beat_at < rota.now() - :after::interval
        and not exists (
            select 1
            from rota.live_runs as r
            where
                r.session_id = s.id
                and r.state in ('running', 'cancelling')
        )
    order by s.id
    limit :most::integer
    for update skip locked
)

delete from rota.sessions as s
using over as o
where s.id = o.id
returning s.id;
