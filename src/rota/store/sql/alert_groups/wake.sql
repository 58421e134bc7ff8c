-- Create the groups of new incidents, or make a process look at them.
insert into rota.alert_groups as g (
    id, tenant_id, route, expectation_id, expectation_name, recovery, next_at, changed_at
)
select
    n.id,
    n.tenant_id,
    n.route,
    n.expectation_id,
    n.expectation_name,
    n.recovery,
    n.next_at,
    :now::timestamptz
from
    jsonb_to_recordset(:rows::jsonb) as n (
        id uuid,
        tenant_id integer,
        route text,
        expectation_id uuid,
        expectation_name text,
        recovery boolean,
        next_at timestamptz
    )
order by n.id
on conflict (id) do update
    set
        next_at = least(coalesce(g.next_at, excluded.next_at), excluded.next_at),
        expectation_name = excluded.expectation_name,
        recovery = excluded.recovery,
        changed_at = excluded.changed_at;
