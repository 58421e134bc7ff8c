-- Delete a limited number of queues without a limit or a pause that no job, unfinished run, graph
-- or worker has used since before a time. Record of the others whether they are in use.
with used as materialized (
    select j.queue_id as id from rota.jobs as j
    union
    select l.queue_id from rota.live_runs as l
    union
    select s.queue_id from rota.scheduled_runs as s
    union
    select unnest(w.queues) from rota.sessions as w
    union
    -- A limit and a pause are configuration.
    select q.id
    from rota.queues as q
    where
        q.name = 'default'
        or q.gate_id is not null
        or q.paused_at is not null
    union
    select t.queue_id
    from rota.tenant_queues as t
    where
        t.gate_id is not null
        or t.paused_at is not null
    union
    select q.id
    from rota.graphs as g
    cross join lateral jsonb_path_query(g.definition, 'strict $.**.queue') as named (queue)
    inner join rota.queues as q on named.queue #>> '{}' = q.name
),

deleted as (
    delete from rota.queues as d
    where
        d.id = any(array(
            select o.id
            from rota.queues as o
            where
                o.unused_since < :before::timestamptz
                and o.id not in (select used.id from used)
            order by o.id
            limit :most::integer
            for update skip locked
        ))
    returning d.id
),

owned as (
    delete from rota.tenant_queues as t
    where t.queue_id in (select deleted.id from deleted)
),

marked as (
    update rota.queues as m
    set unused_since = case when m.unused_since is null then rota.now() end
    where (m.unused_since is null) <> (m.id in (select used.id from used))
)

select count(*) as number
from deleted;
