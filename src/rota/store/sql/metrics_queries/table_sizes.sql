-- The size of each table with its indexes, largest first; partitions count for their parent table.
-- The number of rows is the planner's estimate, that of dead rows the statistics collector's.
select
    coalesce(p.relname, c.relname)::text as relation,
    sum(pg_total_relation_size(c.oid))::bigint as bytes,
    sum(greatest(c.reltuples, 0))::bigint as estimated_rows,
    sum(pg_stat_get_dead_tuples(c.oid))::bigint as dead_rows
from pg_class as c
left join pg_inherits as i on c.oid = i.inhrelid
left join pg_class as p on i.inhparent = p.oid
where
    c.relnamespace = 'rota'::regnamespace
    and c.relkind = 'r'
group by coalesce(p.relname, c.relname)
order by bytes desc, relation asc;
