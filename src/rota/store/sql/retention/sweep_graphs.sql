-- Delete a limited number of graphs that no job and no unfinished graph run has used since before a
-- time. Record of the others whether they are in use.
with used as materialized (
    select j.graph_id as id from rota.jobs as j
    where j.graph_id is not null
    union
    select v.graph_id from rota.job_versions as v
    where v.graph_id is not null
    union
    select g.graph_id
    from rota.live_runs as l
    inner join rota.graph_runs as g on l.id = g.run_id
    where
        l.state = 'blocked'
        and g.graph_id is not null
),

deleted as (
    delete from rota.graphs as d
    where
        d.id = any(array(
            select o.id
            from rota.graphs as o
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
    update rota.graphs as m
    set unused_since = case when m.unused_since is null then rota.now() end
    where (m.unused_since is null) <> (m.id in (select used.id from used))
)

select count(*) as number
from deleted;
