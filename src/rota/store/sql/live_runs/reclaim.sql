-- Take back the runs whose session is expired or gone, or that their session no longer knows. One
-- statement, so that a completion, a cancel or another reaper on the same run either comes first or
-- finds nothing (F15). A lost attempt is recorded and costs no retry; an at-most-once run ends as
-- lost, the third loss as quarantined, and a run that was asked to cancel as cancelled.
--
-- In two steps: a locked run must still be the attempt of the session that was seen. A run that was
-- taken back and claimed again since the snapshot has a session that the snapshot does not know,
-- and would look like one whose session is gone.
with seen as materialized (
    select
        r.id,
        r.session_id,
        r.attempt
    from rota.live_runs as r
    left join rota.sessions as s on r.session_id = s.id
    where
        r.state in ('running', 'cancelling')
        and (
            s.id is null
            or s.expires_at = '-infinity'
            -- Claimed long enough ago to be in the last two heartbeats, and in neither. Not soon
            -- after an outage: its worker may not know yet that it holds the run, and hands it
            -- back.
            or (
                :unknown_for::interval <= :seen_for::interval
                and :asked_at::timestamptz > rota.now() - interval '3 seconds'
                and r.started_at < rota.now() - :unknown_for::interval
                and s.beat_at > r.started_at + :unknown_for::interval
                and not r.id = any(s.running)
            )
        )
    -- By start, because that is the index to scan; skip locked cannot deadlock in any order.
    order by r.started_at
    limit :most::integer
),

gone as (
    select
        r.id,
        case
            when r.state = 'cancelling' then 'cancelled'
            when r.guarantee = 'at_most_once' then 'lost'
            when r.losses + 1 >= :most_losses::integer then 'quarantined'
            else 'queued'
        end::rota.run_state as state
    from seen
    inner join rota.live_runs as r on seen.id = r.id
    where
        r.session_id = seen.session_id
        and r.attempt = seen.attempt
        and r.state in ('running', 'cancelling')
    for update of r skip locked
),

waiting as (
    update rota.live_runs as r
    set
        state = 'queued',
        session_id = null,
        losses = r.losses + 1,
        ready_at = rota.now(),
        changed_at = rota.now()
    from gone as g
    where
        r.id = g.id
        and g.state = 'queued'
    returning r.id, r.attempt, r.started_at, r.state
),

ended as (
    delete from rota.live_runs as r
    using gone as g
    where
        r.id = g.id
        and g.state <> 'queued'
    returning r.*, g.state as final
),

kept as (
    insert into rota.attempts (run_id, attempt, outcome, started_at, finished_at)
    select
        w.id,
        w.attempt,
        'lost',
        w.started_at,
        rota.now()
    from waiting as w
),

told as (
    -- fragment: ended_run row=e without=result
    --   losses: e.losses + 1
    --   reason: '{"code": "worker_lost"}'
    insert into rota.runs (
        id, job_id, session_id, scheduled_at, due_at, created_at, started_at, finished_at,
        tenant_id, queue_id, kind_id, policy_id, job_version, state, left_state, trigger, priority,
        attempt, failures, losses, payload, reason, gates, graph_run_id, step, member, name, labels,
        user_id, submitter, address
    )
    select
        e.id,
        e.job_id,
        e.session_id,
        e.scheduled_at,
        e.due_at,
        e.created_at,
        e.started_at,
        rota.now(),
        e.tenant_id,
        e.queue_id,
        e.kind_id,
        e.policy_id,
        e.job_version,
        e.final,
        e.state,
        e.trigger,
        e.priority,
        e.attempt,
        e.failures,
        e.losses + 1,
        e.payload,
        '{"code": "worker_lost"}',
        e.gates,
        e.graph_run_id,
        e.step,
        e.member,
        e.name,
        e.labels,
        e.user_id,
        e.submitter,
        e.address
    -- end fragment
    from ended as e
    returning id, state, tenant_id, graph_run_id, step, member
),

marked as (
    -- fragment: step_completions
    insert into rota.step_marks (tenant_id, graph_run_id, step, state, ended, members, run_id)
    select
        t.tenant_id,
        t.graph_run_id,
        t.step,
        t.state,
        count(*),
        count(t.member),
        (array_agg(t.id))[1]
    from told as t
    where t.graph_run_id is not null
    group by t.tenant_id, t.graph_run_id, t.step, t.state
    -- end fragment
)

select
    w.id,
    w.state
from waiting as w
union all
select
    t.id,
    t.state
from told as t;
