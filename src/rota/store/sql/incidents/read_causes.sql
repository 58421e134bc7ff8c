-- What open incidents say now, to compare it with new evidence.
select
    i.id as incident_id,
    i.severity,
    i.condition,
    i.expectation_id
from rota.incidents as i
where
    i.id = any(:incident_ids::uuid[])
    and i.state <> 'resolved';
