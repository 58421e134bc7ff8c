-- How many runs hold each of these gates, and how many are held in each of these queues, of each of
-- these tenants, and of each tenant in a queue, identified by its gate. Reads all held runs, which
-- are those that all workers together execute. A graph run holds its own gates while its steps run;
-- for queues and tenants its steps count, not the graph run itself.
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
group by held.tenant_id
union all
select
    'tenant queue' as sort,
    pair.gate_id as id,
    count(*)::integer as held
from
    unnest(
        :pair_tenant_ids::integer[], :pair_queue_ids::integer[], :pair_gate_ids::integer[]
    ) as pair (tenant_id, queue_id, gate_id)
inner join held on pair.tenant_id = held.tenant_id and pair.queue_id = held.queue_id
group by pair.gate_id;
