-- Write states that the caller has locked.
update rota.alert_states as s
set
    state = n.state,
    since = n.since,
    run_id = n.run_id,
    incident_id = n.incident_id,
    opened = n.opened,
    met_in_row = n.met_in_row,
    changes = n.changes,
    is_flapping = n.is_flapping,
    is_met = n.is_met,
    next_at = n.next_at,
    finding = n.finding
from
    jsonb_to_recordset(:rows::jsonb) as n (
        expectation_id uuid,
        subject_key text,
        state text,
        since timestamptz,
        run_id uuid,
        incident_id uuid,
        opened integer,
        met_in_row smallint,
        changes timestamptz[],
        is_flapping boolean,
        is_met boolean,
        next_at timestamptz,
        finding jsonb
    )
where
    s.expectation_id = n.expectation_id
    and s.subject_key = n.subject_key;
