-- Members of a map that did not succeed, in order. Among a million they are few, and have their own
-- index.
select
    r.id,
    r.member,
    true as fits
from rota.runs as r
where
    r.id > :after_id::uuid
    and r.id <= :last_id::uuid
    and r.graph_run_id = :run_id::uuid
    and r.tenant_id = :tenant_id::integer
    and r.member is not null
    and r.state <> 'succeeded'
    and r.state = any(:states::rota.run_state[])
order by r.id
limit :most::integer;
