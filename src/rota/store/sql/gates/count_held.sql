-- How many runs are held now behind each of these gates, in each of these queues, and of each of
-- these tenants. Reads all that is held, which is what all workers together execute. A graph run is
-- held at its own gates while its steps run; of queues and tenants its steps count, not itself.
with held as materialized (
    select
        l.gates,
        l.queue_id,
        l.tenant_id
    from rota.live_runs as l
    where l.state in ('running', 'cancelling')
),

unfolded as materialized (
    select l.gates
    from rota.live_runs as l
    where
        l.state = 'blocked'
        and l.gates is not null
)

select
    'gate' as sort,
    behind.id,
    count(*)::integer as held
from (
    select held.gates from held
    union all
    select unfolded.gates from unfolded
) as passed
cross join lateral unnest(passed.gates) as behind (id)
where behind.id = any(:gate_ids::integer[])
group by behind.id
union all
select
    'queue' as sort,
    held.queue_id as id,
    count(*)::integer as held
from held
where held.queue_id = any(:queue_ids::integer[])
group by held.queue_id
union all
select
    'tenant' as sort,
    held.tenant_id as id,
    count(*)::integer as held
from held
where held.tenant_id = any(:tenant_ids::integer[])
group by held.tenant_id;
