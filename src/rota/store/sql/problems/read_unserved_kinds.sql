-- The kinds of the newest active jobs of a tenant that no live worker serves, with the number of
-- those jobs, the first of them, and the programs that jobs of kind `shell` start.
with active as materialized (
    select
        j.id,
        j.name,
        j.kind_id,
        j.payload
    from rota.jobs as j
    where
        j.tenant_id = :tenant_id::integer
        and j.state = 'active'
    order by j.created_at desc, j.id desc
    limit :look::integer
)

select
    k.name as kind,
    count(*) as jobs,
    (array_agg(a.id order by a.name))[1] as job_id,
    (array_agg(a.name order by a.name))[1] as job,
    array_agg(distinct a.payload -> 'argv' ->> 0) filter (
        where k.name = 'shell' and jsonb_typeof(a.payload -> 'argv') = 'array'
    ) as programs
from active as a
inner join rota.kinds as k on a.kind_id = k.id
where
    not exists (
        select 1 from rota.sessions as s
        where
            s.role = 'worker'
            and s.expires_at > (select rota.now())
            and a.kind_id = any(s.kinds)
            and exists (
                select 1 from unnest(s.queues) as served (queue_id)
                where rota.serves_tenant(s.serves, served.queue_id, :tenant::text)
            )
    )
group by k.name
order by k.name
limit :most::integer;
