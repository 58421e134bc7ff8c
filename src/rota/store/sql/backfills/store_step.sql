-- Store the progress of a backfill. No row means that another process has moved it or changed its
-- state.
update rota.backfills as b
set
    state = :state::rota.backfill_state,
    reached = :reached::timestamptz,
    ticks = b.ticks + :ticks::bigint,
    made = b.made + :made::bigint,
    succeeded = b.succeeded + :succeeded::bigint,
    failed = b.failed + :failed::bigint,
    cancelled = b.cancelled + :cancelled::bigint,
    look_at = clock.now + :rest::interval,
    ended_at = case
        when :state::rota.backfill_state in ('finished', 'cancelled') then clock.now
    end,
    reason = coalesce(:reason::jsonb, b.reason)
from (select rota.now() as now) as clock
where
    b.id = :id::uuid
    and b.state = :was::rota.backfill_state
    and b.reached = :was_at::timestamptz
returning b.id;
