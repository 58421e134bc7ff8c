-- Members that did not succeed, ordered by index, which is the order of their ids.
select
    r.member,
    r.id,
    r.state,
    r.reason
from rota.runs as r
where
    r.id > :after_id::uuid
    and r.id <= :last_id::uuid
    and r.graph_run_id = :run_id::uuid
    and r.tenant_id = (
        select m.tenant_id from rota.graph_maps as m
        where m.run_id = :run_id::uuid
        limit 1
    )
    and r.member is not null
    and r.state <> 'succeeded'
order by r.id
limit :most::integer;
