-- Write new jobs that differ in nothing but the columns given as arrays, each with its first tick;
-- a taken name refuses them all. What insert_many.sql does, for a third of what it costs to say.
with given as materialized (
    select n.*
    from
        unnest(
            :ids::uuid[],
            :names::text[],
            :schedules::jsonb[],
            :payloads::jsonb[],
            :tick_ats::timestamptz[],
            -- Empty if they are due at their ticks.
            :fire_ats::timestamptz[],
            :shards::smallint[]
        ) as n (id, name, schedule, payload, tick_at, fire_at, shard)
),

placed as (
    insert into rota.cursors (
        job_id, tick_at, fire_at, fired, version, tenant_id, queue_id, kind_id, policy_id,
        schedule_id, overlap, shard, priority, guarantee, gates, deadline, keep_first,
        when_queue_paused
    )
    select
        g.id, g.tick_at, coalesce(g.fire_at, g.tick_at), :fired::integer, 1, :tenant_id::integer,
        :queue_id::integer, :kind_id::integer, :policy_id::integer, :schedule_id::integer,
        :overlap::rota.overlap, g.shard, :priority::smallint, :guarantee::rota.guarantee, null,
        :deadline::interval, :keep_first::boolean, :when_queue_paused::rota.when_queue_paused
    from given as g
)

insert into rota.jobs (
    id, tenant_id, name, state, kind_id, queue_id, policy_id, priority, overlap, guarantee,
    schedule, payload, labels, user_id, limits, keep_first, graph_id, when_queue_paused
)
select
    g.id, :tenant_id::integer, g.name, :state::rota.job_state, :kind_id::integer,
    :queue_id::integer, :policy_id::integer, :priority::smallint, :overlap::rota.overlap,
    :guarantee::rota.guarantee, g.schedule, g.payload, :labels::jsonb, :user_id::text, null,
    :keep_first::boolean, null, :when_queue_paused::rota.when_queue_paused
from given as g
-- Two that write the same names do so in the same order.
order by g.name;
