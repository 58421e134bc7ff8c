-- Runs by id, unfinished or finished: one lookup by primary key each. `started_at` is the start of
-- the first attempt.
select
    p.id,
    coalesce(l.state, r.state) as state,
    coalesce(l.created_at, r.created_at) as created_at,
    case
        when coalesce(l.attempt, r.attempt, 0) > 1
            then coalesce(
                (
                    select a.started_at from rota.attempts as a
                    where
                        a.run_id = p.id
                        and a.attempt = 1
                ),
                l.started_at,
                r.started_at
            )
        when coalesce(l.attempt, r.attempt, 0) = 1 then coalesce(l.started_at, r.started_at)
    end as started_at,
    r.finished_at,
    r.reason
from unnest(:ids::uuid[]) as p (id)
left join rota.live_runs as l on p.id = l.id
left join lateral (
    select
        u.state,
        u.created_at,
        u.attempt,
        u.started_at,
        u.finished_at,
        u.reason
    from rota.runs as u
    where
        u.id = p.id
        and l.id is null
) as r on true
where
    l.id is not null
    or r.state is not null;
