-- What waits and runs in each queue, and for how long the oldest that is ready has waited.
select
    q.name,
    q.paused_at is not null as is_paused,
    count(*) filter (where r.state in ('queued', 'retrying') and r.ready_at <= rota.now()) as ready,
    count(*) filter (where r.state in ('queued', 'retrying') and r.ready_at > rota.now()) as later,
    count(*) filter (where r.state in ('running', 'cancelling')) as running,
    min(r.ready_at) filter (
        where r.state in ('queued', 'retrying') and r.ready_at <= rota.now()
    ) as oldest_at
from rota.queues as q
left join rota.live_runs as r on q.id = r.queue_id
group by q.id, q.name
order by q.name;
