-- How many deadlines of jobs are watched.
select count(*) as watches from rota.watches as w
where w.condition in ('start_within', 'finish_by', 'succeed_every');
