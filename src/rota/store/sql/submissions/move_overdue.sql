-- Move a limited number of overdue submissions of any shard into the hot table. The holder of their
-- shards may be a scheduler of a release that does not know submissions. No fence is needed,
-- because a row can be deleted only once; one that is being moved is skipped.
with chosen as materialized (
    select
        due.tenant_id,
        due.id
    from rota.shards as h
    cross join
        lateral (
            select
                s.tenant_id,
                s.id
            from rota.scheduled_runs as s
            where
                s.shard = h.id
                and s.due_at <= (select rota.now() - :late::interval)
            order by s.due_at asc
            limit :most::integer
            for update skip locked
        ) as due
    limit :most::integer
),

moved as (
    delete from rota.scheduled_runs as s
    using chosen as c
    where
        s.tenant_id = c.tenant_id
        and s.id = c.id
    returning s.*
),

made as (
    insert into rota.live_runs (
        id, job_id, scheduled_at, due_at, ready_at, created_at, deadline_at, tenant_id, queue_id,
        kind_id, policy_id, job_version, state, trigger, priority, guarantee, payload, gates, name,
        labels, user_id, submitter, address
    )
    select
        m.id, coalesce(m.job_id, m.id), m.due_at as scheduled_at, m.due_at, clock.now, m.created_at,
        m.due_at + m.deadline, m.tenant_id, m.queue_id, m.kind_id, m.policy_id, 1, 'queued',
        'api', m.priority, m.guarantee, m.payload, m.gates, m.name, m.labels, m.user_id,
        m.submitter, m.address
    from moved as m
    cross join (select rota.now() as now) as clock
    on conflict (id) do nothing
)

select count(*) as number
from moved;
