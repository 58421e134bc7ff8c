-- Claim waiting runs for a session: from each lane, in the given order, at most its share. A run
-- that becomes ready within `ahead` is claimed already and starts when it is ready.
-- (low, low_id) is a hint where the lane's live entries begin (docs/adr/0009-claims.md); `room`
-- stops the scan when the free slots are filled. ctid = any(array(…)) keeps the planner from
-- hashing the whole table; the inner select has locked the rows, so no ctid moves meanwhile.
update rota.live_runs as r
set
    state = 'running',
    attempt = r.attempt + 1,
    session_id = :session_id::uuid,
    started_at = greatest(clock.now, r.ready_at)
from (select rota.now() as now) as clock
where
    r.ctid = any(array(
        select taken.ctid
        from
            unnest(
                :tenant_ids::integer[],
                :priorities::smallint[],
                :lows::timestamptz[],
                :low_ids::uuid[],
                :shares::integer[]
            ) as lane (tenant_id, priority, low, low_id, share)
        cross join
            lateral (
                select w.ctid
                from rota.live_runs as w
                where
                    w.state in ('queued', 'retrying')
                    and w.gates is null
                    and w.queue_id = :queue_id::integer
                    and w.tenant_id = lane.tenant_id
                    and w.priority = lane.priority
                    and (w.ready_at, w.id) >= (lane.low, lane.low_id)
                    and w.ready_at <= (select rota.now() + :ahead::interval)
                    and w.kind_id = any(:kind_ids::integer[])
                order by w.ready_at asc, w.id asc
                limit lane.share
                for update skip locked
            ) as taken
        -- Checked here, not only by the claimer: once a pause is acknowledged, nothing starts.
        where
            lane.tenant_id <> all(array(
                select t.id from rota.tenants as t
                where t.paused_at is not null
            ))
            -- A session whose lease has expired claims nothing: its runs would be lost at once.
            and exists (
                select 1 from rota.sessions as s
                where
                    s.id = :session_id::uuid
                    and s.expires_at > rota.now()
            )
            and not exists (
                select 1 from rota.queues as q
                where
                    q.id = :queue_id::integer
                    and q.paused_at is not null
            )
            and lane.tenant_id <> all(array(
                select tq.tenant_id from rota.tenant_queues as tq
                where
                    tq.queue_id = :queue_id::integer
                    and tq.paused_at is not null
            ))
        limit :room::integer
    ))
returning
    r.id,
    r.job_id,
    r.job_version,
    r.attempt,
    r.failures,
    r.tenant_id,
    r.kind_id,
    r.policy_id,
    r.priority,
    r.scheduled_at,
    r.due_at,
    r.ready_at,
    r.started_at,
    r.deadline_at,
    r.payload;
