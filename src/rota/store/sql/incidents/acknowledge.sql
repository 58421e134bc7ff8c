-- Acknowledge an open incident.
update rota.incidents as i
set
    state = 'acknowledged',
    acknowledged_at = :now::timestamptz,
    acknowledged_by = :by::text
where
    i.id = :id::uuid
    and i.tenant_id = :tenant_id::integer
    and i.state = 'open'
returning i.id;
