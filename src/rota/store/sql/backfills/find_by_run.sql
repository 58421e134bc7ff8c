-- The backfill that created a run, identified by the run's first gate.
select b.id
from (
    select l.gates[1] as gate_id
    from rota.live_runs as l
    where
        l.id = :run_id::uuid
        and l.tenant_id = :tenant_id::integer
    union all
    select r.gates[1] as gate_id
    from rota.runs as r
    where
        r.id = :run_id::uuid
        and r.tenant_id = :tenant_id::integer
) as run
inner join rota.backfills as b on run.gate_id = b.gate_id
where b.tenant_id = :tenant_id::integer;
