-- Lock graph runs with step completions, to advance them. Returns only what is needed, because
-- every column costs a third of a microsecond to decode. One that another process advances is left
-- to it or to a later pass: completions that it does not consume stay. A paused one is skipped
-- while it lives; the state and policy of its run are null if that is in history.
select
    g.run_id,
    g.tenant_id,
    g.graph_id,
    g.path,
    g.board,
    g.round,
    g.rounds,
    g.told,
    g.ended_at is not null as has_ended,
    l.state,
    l.policy_id
from unnest(:ids::uuid[]) as wanted (id)
inner join rota.graph_runs as g on wanted.id = g.run_id
left join rota.live_runs as l on g.run_id = l.id
where
    (g.paused_at is null or l.id is null)
    and exists (
        select 1 from rota.step_marks as m
        where m.graph_run_id = wanted.id
    )
for update of g skip locked;
