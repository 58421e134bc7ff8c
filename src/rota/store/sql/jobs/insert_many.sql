-- Insert jobs, and cursors for those with future ticks; a name in use refuses them all. The cursors
-- come from the parameters and not from the inserted rows: a join of the two would compare all
-- pairs where hash joins are off.
with given as materialized (
    select n.*
    from
        unnest(
            :ids::uuid[],
            :tenant_ids::integer[],
            :names::text[],
            :states::rota.job_state[],
            :kind_ids::integer[],
            :queue_ids::integer[],
            :policy_ids::integer[],
            :priorities::smallint[],
            :overlap_policies::rota.overlap[],
            :guarantees::rota.guarantee[],
            :schedules::jsonb[],
            :payloads::jsonb[],
            :labels::jsonb[],
            :user_ids::text[],
            :limits::jsonb[],
            :keep_firsts::boolean[],
            :tick_ats::timestamptz[],
            :fire_ats::timestamptz[],
            :fired::integer[],
            :schedule_ids::integer[],
            :shards::smallint[],
            -- As text: an array of arrays would have to be rectangular.
            :gates::text[],
            :deadlines::interval[],
            :graph_ids::integer[],
            -- Empty if all of them have the default.
            :when_queue_paused::rota.when_queue_paused[]
            /* each detail: , :each_{name}::{type}[] */
        ) as n (
            id, tenant_id, name, state, kind_id, queue_id, policy_id, priority, overlap,
            guarantee, schedule, payload, labels, user_id, limits, keep_first, tick_at, fire_at,
            fired, schedule_id, shard, gates, deadline, graph_id, when_queue_paused
            /* each detail: , {name} */
        )
),

placed as (
    insert into rota.cursors (
        job_id, tick_at, fire_at, fired, version, tenant_id, queue_id, kind_id, policy_id,
        schedule_id, overlap, shard, priority, guarantee, gates, deadline, keep_first,
        when_queue_paused
    )
    select
        g.id, g.tick_at, g.fire_at, g.fired, 1, g.tenant_id, g.queue_id, g.kind_id, g.policy_id,
        g.schedule_id, g.overlap, g.shard, g.priority, g.guarantee, g.gates::integer[],
        g.deadline, g.keep_first, coalesce(g.when_queue_paused, 'skip')
    from given as g
    where g.tick_at is not null
)

insert into rota.jobs (
    id, tenant_id, name, state, kind_id, queue_id, policy_id, priority, overlap, guarantee,
    schedule, payload, labels, user_id, limits, keep_first, graph_id, when_queue_paused,
    defined_since
    /* each detail: , {name} */
)
select
    g.id, g.tenant_id, g.name, g.state, g.kind_id, g.queue_id, g.policy_id, g.priority,
    g.overlap, g.guarantee, g.schedule, g.payload, g.labels, g.user_id, g.limits, g.keep_first,
    g.graph_id, coalesce(g.when_queue_paused, 'skip'), 1
    /* each detail: , g.{name} */
from given as g
-- Sorted, so that two transactions insert the same names in the same order.
order by g.tenant_id, g.name;
