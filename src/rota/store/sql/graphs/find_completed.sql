-- Graph runs with unconsumed step completions, from one id on.
select m.graph_run_id as id
from rota.step_marks as m
where m.graph_run_id > :after::uuid
group by m.graph_run_id
order by m.graph_run_id
limit :most::integer;
