-- How many jobs are in each state, reading a limited number. A job whose schedule has ended counts
-- as finished once maintenance has marked it.
select
    counted.state,
    count(*) as number
from (
    select j.state
    from rota.jobs as j
    limit :most::integer
) as counted
group by counted.state
order by counted.state;
