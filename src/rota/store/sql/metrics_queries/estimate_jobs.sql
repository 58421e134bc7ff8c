-- The approximate number of jobs from the planner's statistics: the total, and the fractions of the
-- states as far as known. An exact count would read every job.
select
    greatest(c.reltuples, 0)::bigint as number,
    st.most_common_vals::text::text[] as states,
    st.most_common_freqs as parts
from pg_class as c
inner join pg_namespace as n on c.relnamespace = n.oid
left join pg_stats as st
    on
        n.nspname = st.schemaname
        and c.relname = st.tablename
        and st.attname = 'state'
where
    n.nspname = 'rota'
    and c.relname = 'jobs';
