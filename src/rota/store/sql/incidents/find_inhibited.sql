-- Find out what explains open incidents; return those for which it changed. Lateness is explained
-- by an incident of the installation, a paused tenant, a paused queue or a queue without workers;
-- the failure of a step by the failure of its graph.
with causes as materialized (
    select
        o.condition,
        o.tenant_id,
        o.subject_kind,
        o.subject_id
    from rota.incidents as o
    where
        o.state <> 'resolved'
        and (
            (o.tenant_id = 0 and o.condition = any(:platform_causes::text[]))
            or (o.subject_kind = 'queue' and o.condition = any(:queue_causes::text[]))
        )
),

found as (
    select
        i.id,
        i.tenant_id,
        i.inhibited_by as known,
        case
            when
                i.condition = any(:lateness::text[])
                then coalesce(
                    (
                        select min(c.condition) from causes as c
                        where
                            c.tenant_id = 0
                            and c.condition = any(:platform_causes::text[])
                    ),
                    (
                        select 'tenant_paused' from rota.tenants as t
                        where
                            t.id = i.tenant_id
                            and t.paused_at is not null
                    ),
                    (
                        select 'queue_paused' from rota.queues as q
                        left join rota.tenant_queues as tq
                            on q.id = tq.queue_id and tq.tenant_id = i.tenant_id
                        where
                            q.name = i.queue
                            and (q.paused_at is not null or tq.paused_at is not null)
                    ),
                    (
                        select min(c.condition) from causes as c
                        where
                            c.tenant_id in (0, i.tenant_id)
                            and c.subject_kind = 'queue'
                            and c.subject_id = i.queue
                            and i.subject_kind <> 'queue'
                    )
                )
            when
                i.subject_kind = 'step'
                and i.condition = any(:failures::text[])
                and exists (
                    select 1 from rota.incidents as g
                    where
                        g.job_id = i.job_id
                        and g.state <> 'resolved'
                        and g.subject_kind = 'job'
                        and g.condition = any(:failures::text[])
                )
                then 'graph_failed'
        end as inhibited_by
    from rota.incidents as i
    where
        i.state <> 'resolved'
        and (
            i.condition = any(:lateness::text[])
            or i.subject_kind = 'step'
            or i.inhibited_by is not null
        )
        and (:incident_ids::uuid[] is null or i.id = any(:incident_ids::uuid[]))
)

select
    f.id,
    f.tenant_id,
    f.inhibited_by
from found as f
where f.inhibited_by is distinct from f.known
order by f.id;
