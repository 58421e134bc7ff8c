-- Turn one-time jobs with a future tick into scheduled submissions. A job whose cursor moved since
-- it was read stays. A name that Rota had generated is dropped: the submission is then named after
-- its kind.
with given as (
    select
        n.job_id,
        n.version,
        n.run_id
    from unnest(:job_ids::uuid[], :versions::integer[], :run_ids::uuid[])
        as n (job_id, version, run_id)
),

ended as (
    delete from rota.cursors as c
    using given as g
    where
        c.job_id = g.job_id
        and c.version = g.version
        and c.fire_at is not null
    returning c.*, g.run_id
),

removed as (
    delete from rota.jobs as j
    where j.id = any(array(select e.job_id from ended as e))
    returning j.*
)

insert into rota.scheduled_runs (
    tenant_id, id, job_id, shard, due_at, created_at, queue_id, kind_id, policy_id, priority,
    guarantee, deadline, gates, payload, name, labels, user_id
)
select
    e.tenant_id,
    e.run_id,
    e.job_id,
    e.shard,
    e.fire_at,
    r.created_at,
    e.queue_id,
    e.kind_id,
    e.policy_id,
    e.priority,
    e.guarantee,
    e.deadline,
    e.gates,
    r.payload,
    case
        when
            r.name = left(k.name, 160) || ' ' || right(r.name, 8)
            and right(r.name, 8) ~ '^[0-9a-f]{8}$'
            and right(r.name, 8) ~ '[a-f]'
            then null
        else r.name
    end,
    nullif(r.labels, '{}'),
    r.user_id
from ended as e
inner join removed as r on e.job_id = r.id
left join rota.kinds as k on e.kind_id = k.id
returning id;
