-- Create the next members of a map whose graph run the caller has locked. The same statement moves
-- the counter, and only from where the caller saw it, so a repeated batch creates nothing; ids are
-- consecutive, so the primary key grows in one place. One payload for all, or one per member.
with moved as (
    update rota.graph_maps as m
    set made = m.made + cardinality(:members::integer[])
    where
        m.run_id = :graph_run_id::uuid
        and m.step = :step::integer
        and m.made = :made::integer
        and m.stopped is null
        and exists (
            select 1 from rota.live_runs as g
            where
                g.id = m.run_id
                and g.state = 'blocked'
        )
    returning m.run_id
),

members as (
    insert into rota.live_runs (
        id, job_id, scheduled_at, due_at, ready_at, created_at, deadline_at, tenant_id, queue_id,
        kind_id, policy_id, job_version, state, trigger, priority, guarantee, payload,
        graph_run_id, step, member
    )
    select
        (:prefix::text || lpad(to_hex(n.member), 6, '0'))::uuid,
        g.job_id,
        g.scheduled_at,
        clock.now as due_at,
        greatest(clock.now, g.ready_at),
        clock.now as created_at,
        clock.now + nullif(p.body ->> 'deadline', 'none')::interval as deadline_at,
        g.tenant_id,
        coalesce(:queue_id::integer, g.queue_id),
        :kind_id::integer,
        :policy_id::integer,
        g.job_version,
        'queued',
        'graph',
        coalesce(:priority::smallint, g.priority),
        :guarantee::rota.guarantee,
        coalesce(:payload::jsonb, n.payload),
        moved.run_id,
        :step::integer,
        n.member
    from moved
    inner join rota.live_runs as g on moved.run_id = g.id
    inner join rota.policies as p on :policy_id::integer = p.id
    cross join (select rota.now() as now) as clock
    cross join unnest(:members::integer[], :payloads::jsonb[]) as n (member, payload)
    on conflict (id) do nothing
)

select cardinality(:members::integer[]) as number
from moved;
