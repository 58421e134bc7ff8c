-- Write new jobs, and the cursors of those that have ticks to come.
with made as (
    insert into rota.jobs (
        id, tenant_id, name, kind_id, queue_id, policy_id, priority, overlap, guarantee,
        schedule, payload, labels, user_id
    )
    select
        n.id, n.tenant_id, n.name, n.kind_id, n.queue_id, n.policy_id, n.priority, n.overlap,
        n.guarantee, n.schedule, n.payload, n.labels, n.user_id
    from
        unnest(
            :ids::uuid[],
            :tenant_ids::integer[],
            :names::text[],
            :kind_ids::integer[],
            :queue_ids::integer[],
            :policy_ids::integer[],
            :priorities::smallint[],
            :overlap_policies::rota.overlap[],
            :guarantees::rota.guarantee[],
            :schedules::jsonb[],
            :payloads::jsonb[],
            :labels::jsonb[],
            :user_ids::text[]
        ) as n (
            id, tenant_id, name, kind_id, queue_id, policy_id, priority, overlap, guarantee,
            schedule, payload, labels, user_id
        )
    returning *
),

placed as (
    insert into rota.cursors (
        job_id,
        tick_at,
        fire_at,
        fired,
        version,
        tenant_id,
        queue_id,
        kind_id,
        policy_id,
        schedule_id,
        overlap, shard, priority, guarantee
    )
    select
        m.id, p.tick_at, p.fire_at, p.fired, m.version, m.tenant_id, m.queue_id, m.kind_id,
        m.policy_id, p.schedule_id, m.overlap, p.shard, m.priority, m.guarantee
    from made as m
    inner join
        unnest(
            :ids::uuid[],
            :tick_ats::timestamptz[],
            :fire_ats::timestamptz[],
            :fired::integer[],
            :schedule_ids::integer[],
            :shards::smallint[]
        ) as p (id, tick_at, fire_at, fired, schedule_id, shard)
        on m.id = p.id
    where p.tick_at is not null
)

select m.id from made as m;
