-- How many shards each live scheduler holds, including schedulers without shards.
select
    s.name as scheduler,
    count(h.id) as shards
from rota.sessions as s
left join rota.shards as h on s.id = h.owner and h.expires_at > rota.now()
where
    s.role = 'scheduler'
    and s.expires_at > rota.now()
group by s.name
order by shards desc, s.name asc;
