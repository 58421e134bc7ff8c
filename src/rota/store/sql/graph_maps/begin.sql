-- Begin a map, or restart it because its parents did: members created before no longer count.
insert into rota.graph_maps as m (
    run_id, step, tenant_id, round, base, total, handed, is_counted, is_sourcing
)
values (
    :run_id::uuid,
    :step::integer,
    :tenant_id::integer,
    :round::smallint,
    :round::smallint,
    :total::integer,
    coalesce(:total::integer, 0),
    :is_counted::boolean,
    :total::integer is null
)
on conflict (run_id, step) do update
    set
        round = excluded.round,
        base = excluded.base,
        total = excluded.total,
        handed = excluded.handed,
        is_counted = excluded.is_counted,
        is_sourcing = excluded.is_sourcing,
        made = 0,
        again = 0,
        again_after = -1,
        succeeded = 0,
        failed = 0,
        cancelled = 0,
        stopped = null,
        reason = null,
        started_at = rota.now(),
        ended_at = null
    where m.round < excluded.round
returning m.run_id;
