-- Move due submissions of these shards into the hot table, a limited number per shard, and return
-- when the next one of each shard is due. A shard that the scheduler no longer holds yields nothing
-- and is not returned; its row is locked, so a new owner waits for this move or precedes it. A
-- submission that was cancelled or put off meanwhile stays as it is.
-- fragment: held_shards
with held as materialized (
    select s.id
    from unnest(:shards::smallint[], :epochs::bigint[]) as mine (id, epoch)
    inner join rota.shards as s on mine.id = s.id and mine.epoch = s.epoch
    where s.owner = :owner::uuid
    order by s.id
    for share of s
),
-- end fragment

chosen as materialized (
    select
        due.tenant_id,
        due.id
    from held
    cross join
        lateral (
            select
                s.tenant_id,
                s.id
            from rota.scheduled_runs as s
            where
                s.shard = held.id
                and s.due_at <= (select rota.now() + :ahead::interval)
            order by s.due_at asc
            limit :per_shard::integer
        ) as due
),

moved as (
    delete from rota.scheduled_runs as s
    using chosen as c
    where
        s.tenant_id = c.tenant_id
        and s.id = c.id
        and s.shard = any(array(select held.id from held))
        and s.due_at <= (select rota.now() + :ahead::interval)
    returning s.*
),

made as (
    insert into rota.live_runs (
        id, job_id, scheduled_at, due_at, ready_at, created_at, deadline_at, tenant_id, queue_id,
        kind_id, policy_id, job_version, state, trigger, priority, guarantee, payload, gates, name,
        labels, user_id, submitter, address
    )
    select
        m.id, coalesce(m.job_id, m.id), m.due_at as scheduled_at, m.due_at,
        greatest(m.due_at, clock.now), m.created_at, m.due_at + m.deadline, m.tenant_id, m.queue_id,
        m.kind_id, m.policy_id, 1, 'queued', 'api', m.priority, m.guarantee, m.payload, m.gates,
        m.name, m.labels, m.user_id, m.submitter, m.address
    from moved as m
    cross join (select rota.now() as now) as clock
    on conflict (id) do nothing
)

select
    (
        select array_agg(m.id) from moved as m
    ) as ids,
    (
        select array_agg(m.shard) from moved as m
    ) as of_shards,
    (
        select array_agg(distinct m.queue_id) from moved as m
    ) as queue_ids,
    (
        select min(m.due_at) from moved as m
    ) as first_due_at,
    array_agg(h.shard) as shards,
    array_agg(h.next_due_at) as next_due_ats
from (
    select
        held.id as shard,
        (
            select s.due_at
            from rota.scheduled_runs as s
            where
                s.shard = held.id
                and s.due_at > (select rota.now() + :ahead::interval)
            order by s.due_at asc
            limit 1
        ) as next_due_at
    from held
) as h;
