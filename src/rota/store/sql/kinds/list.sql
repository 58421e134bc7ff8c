-- The kinds that workers execute now or have described. Not all kinds that were ever named: those
-- may belong to other tenants.
with served as materialized (
    select
        s.kind_id,
        count(*) as workers
    from (
        select unnest(w.kinds) as kind_id
        from rota.sessions as w
        where
            w.role = 'worker'
            and w.expires_at > (select rota.now())
    ) as s
    group by s.kind_id
)

select
    k.name,
    coalesce(s.workers, 0) as workers,
    k.payload_schema
from rota.kinds as k
left join served as s on k.id = s.kind_id
where
    s.kind_id is not null
    or k.payload_schema is not null
order by k.name
limit :most::integer;
