-- How many live workers serve each queue that is in use, the most used first.
select
    q.name as queue,
    count(s.id) as workers
from rota.queues as q
left join rota.sessions as s
    on
        q.id = any(s.queues)
        and s.role = 'worker'
        and not s.draining
        and s.expires_at > rota.now()
where q.unused_since is null
group by q.id, q.name
order by workers desc, q.name asc
limit :most::integer;
