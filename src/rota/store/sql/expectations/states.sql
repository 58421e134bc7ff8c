-- What is known about expectations of some subjects: the next check, and the open incident of each.
select
    k.expectation_id,
    k.subject_key,
    case when s.state = 'firing' then 'firing' else coalesce(w.state, 'ok') end as state,
    case when s.state = 'firing' then s.since else coalesce(w.since, s.since) end as since,
    w.next_check_at,
    case when i.state <> 'resolved' then i.id end as incident_id
from
    unnest(:expectation_ids::uuid[], :subject_keys::text[]) as k (expectation_id, subject_key)
left join rota.watches as w
    on
        k.expectation_id = w.expectation_id
        and k.subject_key = w.subject_key
        and w.tenant_id = :tenant_id::integer
left join rota.alert_states as s
    on
        k.expectation_id = s.expectation_id
        and k.subject_key = s.subject_key
        and s.tenant_id = :tenant_id::integer
left join rota.incidents as i on s.incident_id = i.id;
