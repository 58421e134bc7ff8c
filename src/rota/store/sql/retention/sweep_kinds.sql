-- Delete a limited number of kinds that no job, unfinished run, graph or worker has used since
-- before a time. Record of the others whether they are in use.
with used as materialized (
    select j.kind_id as id from rota.jobs as j
    union
    select l.kind_id from rota.live_runs as l
    union
    select s.kind_id from rota.scheduled_runs as s
    union
    select unnest(w.kinds) from rota.sessions as w
    union
    select k.id
    from rota.graphs as g
    cross join lateral jsonb_path_query(g.definition, 'strict $.**.kind') as named (kind)
    inner join rota.kinds as k on named.kind #>> '{}' = k.name
),

deleted as (
    delete from rota.kinds as d
    where
        d.id = any(array(
            select o.id
            from rota.kinds as o
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
    update rota.kinds as m
    set unused_since = case when m.unused_since is null then rota.now() end
    where (m.unused_since is null) <> (m.id in (select used.id from used))
)

select count(*) as number
from deleted;
