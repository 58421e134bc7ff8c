-- Sum up the full block ranges at the ends of the tables that the feed reads, so that it need not
-- read them again. Never the last range, which rows are added to: each would rewrite its summary.
select coalesce(sum(brin_summarize_range(i.indexrelid, range.first)), 0)::integer as ranges
from pg_index as i
inner join pg_class as c on i.indexrelid = c.oid
inner join pg_am as a on c.relam = a.oid
inner join pg_namespace as n on c.relnamespace = n.oid
cross join
    lateral (
        select pg_relation_size(i.indrelid) / current_setting('block_size')::bigint / 64 as ranges
    ) as full_ones
cross join
    lateral generate_series(
        greatest(0, (full_ones.ranges - :most::bigint) * 64), (full_ones.ranges - 1) * 64, 64
    ) as range (first)
where
    n.nspname = 'rota'
    and a.amname = 'brin'
    and c.relkind = 'i';
