-- Write what explains open incidents, where it changed.
update rota.incidents as i
set inhibited_by = n.inhibited_by
from unnest(:incident_ids::uuid[], :causes::text[]) as n (id, inhibited_by)
where
    i.id = n.id
    and i.state <> 'resolved'
    and i.inhibited_by is distinct from n.inhibited_by
returning i.id, i.tenant_id, i.inhibited_by;
