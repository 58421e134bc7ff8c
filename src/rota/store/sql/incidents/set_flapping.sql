-- Mark incidents as flapping, or as steady.
update rota.incidents as i
set is_flapping = :is_flapping::boolean
where
    i.id = any(:incident_ids::uuid[])
    and i.state <> 'resolved'
    and i.is_flapping <> :is_flapping::boolean
returning i.id, i.tenant_id, i.title;
