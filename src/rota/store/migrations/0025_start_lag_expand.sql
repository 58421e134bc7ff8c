-- How late a run started, counted from when it could (docs/reference/metrics.md, "Lag"). Null for a
-- run that has no lag: one that never started, one that was tried again, whose start is that of its
-- last attempt, and one that somebody asked for by hand, by a backfill or by a replay. All figures
-- of lag ask this function, so that they cannot disagree.
create function rota.start_lag(
    trigger rota.run_trigger,
    attempt smallint,
    due_at timestamptz,
    created_at timestamptz,
    started_at timestamptz
) returns interval
language sql immutable parallel safe
as $$
    select case
        when trigger in ('tick', 'api', 'event') and attempt = 1 and started_at is not null
            then greatest(started_at - greatest(due_at, created_at), interval '0')
    end
$$;
