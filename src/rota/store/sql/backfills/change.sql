-- Pause, resume or start to cancel a backfill; the next pass takes it first. No row means that it
-- is not in the state that the caller expects. The time in pauses is added up, because it says
-- nothing about the pace.
update rota.backfills as b
set
    state = :state::rota.backfill_state,
    look_at = clock.now,
    paused_for = b.paused_for + coalesce(clock.now - b.paused_at, interval '0'),
    paused_at = case
        when :state::rota.backfill_state = 'paused' then clock.now
    end,
    reason = :reason::jsonb
from (select rota.now() as now) as clock
where
    b.id = :id::uuid
    and b.state = :was::rota.backfill_state
returning b.id;
