-- How many jobs there are in each state, and when the next of them fires.
select
    rota.shown_state(j) as state,
    count(*) as number,
    min(c.fire_at) as next_at
from rota.jobs as j
left join rota.cursors as c on j.id = c.job_id
where j.state <> 'deleted'
group by 1
order by 1;
