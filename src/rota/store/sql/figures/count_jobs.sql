-- How many jobs there are in each state, by looking at at most so many. A job whose schedule came
-- to its end counts as finished once upkeep has marked it.
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
