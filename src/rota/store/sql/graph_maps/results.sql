-- Ended members of a map in their order, which is that of their ids.
select
    r.member,
    r.state,
    r.result
from rota.runs as r
where
    r.id > :after_id::uuid
    and r.id <= :last_id::uuid
    and r.graph_run_id = :run_id::uuid
order by r.id
limit :most::integer;
