-- Write the new step states of graph runs that the caller has locked.
with stored as (
    update rota.graph_runs as g
    set
        board = n.board,
        rounds = coalesce(n.rounds, g.rounds),
        told = coalesce(n.told, g.told),
        ended_at = case when n.has_ended then coalesce(g.ended_at, clock.now) end
    from
        unnest(
            :run_ids::uuid[],
            :boards::text[],
            :rounds::jsonb[],
            :told::jsonb[],
            :has_ended::boolean[]
        ) as n (run_id, board, rounds, told, has_ended)
    cross join (select rota.now() as now) as clock
    where g.run_id = n.run_id
    returning 1
)

select count(*) as number from stored;
