-- Delete a limited number of gates that no queue, tenant, job or unfinished run has passed since
-- before a time. Record of the others whether they are in use.
with used as materialized (
    select unnest(l.gates) as id from rota.live_runs as l
    where l.gates is not null
    union
    select unnest(c.gates) from rota.cursors as c
    where c.gates is not null
    union
    select unnest(s.gates) from rota.scheduled_runs as s
    where s.gates is not null
    union
    select q.gate_id from rota.queues as q
    where q.gate_id is not null
    union
    select t.gate_id from rota.tenants as t
    where t.gate_id is not null
    union
    select tq.gate_id from rota.tenant_queues as tq
    where tq.gate_id is not null
    union
    select p.id from rota.gates as p
    where p.paid_until > rota.now()
),

deleted as (
    delete from rota.gates as d
    where
        d.id = any(array(
            select o.id
            from rota.gates as o
            where
                o.unused_since < :before::timestamptz
                and o.id not in (select used.id from used)
            order by o.id
            limit :most::integer
            for update skip locked
        ))
    returning d.id
),

marked as (
    update rota.gates as m
    set unused_since = case when m.unused_since is null then rota.now() end
    where (m.unused_since is null) <> (m.id in (select used.id from used))
)

select count(*) as number
from deleted;
