-- Add evidence to open incidents. A worse cause replaces title, condition and severity, and ends
-- the acknowledgement if the severity rises.
update rota.incidents as i
set
    count = i.count + n.count,
    last_seen_at = :now::timestamptz,
    run_id = coalesce(n.run_id, i.run_id),
    title = case when n.is_worst then n.title else i.title end,
    facts = case when n.is_worst then n.facts else i.facts end,
    condition = case when n.is_worst then n.condition else i.condition end,
    expectation_id = case when n.is_worst then n.expectation_id else i.expectation_id end,
    expectation_name = case when n.is_worst then n.expectation_name else i.expectation_name end,
    severity = case when n.is_worst then n.severity else i.severity end,
    state = case when n.is_severer then 'open' else i.state end,
    is_flapping = i.is_flapping or n.is_flapping
from
    jsonb_to_recordset(:rows::jsonb) as n (
        id uuid,
        count bigint,
        run_id uuid,
        is_worst boolean,
        is_severer boolean,
        is_flapping boolean,
        title text,
        facts jsonb,
        condition text,
        expectation_id uuid,
        expectation_name text,
        severity text
    )
where
    i.id = n.id
    and i.state <> 'resolved'
returning i.id;
