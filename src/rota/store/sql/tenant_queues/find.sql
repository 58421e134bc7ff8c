-- A queue of a tenant by name: one that it created or named in a job, or that holds a run of it.
select q.id
from rota.queues as q
where
    q.name = :name::text
    and (
        exists (
            select 1 from rota.tenant_queues as tq
            where
                tq.tenant_id = :tenant_id::integer
                and tq.queue_id = q.id
        )
        or exists (
            select 1 from rota.live_runs as l
            where
                l.state in ('queued', 'retrying')
                and l.gates is null
                and l.queue_id = q.id
                and l.tenant_id = :tenant_id::integer
        )
    );
