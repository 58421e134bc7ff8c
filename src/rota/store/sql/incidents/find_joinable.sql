-- Open incidents about these runs, which another violation of the same run joins.
select
    s.subject_key,
    s.run_id,
    i.id as incident_id,
    i.severity,
    i.condition,
    i.title
from rota.alert_states as s
inner join rota.incidents as i on s.incident_id = i.id
where
    s.run_id = any(:run_ids::uuid[])
    and s.subject_key = any(:subject_keys::text[])
    and s.state = 'firing'
    and i.state <> 'resolved';
