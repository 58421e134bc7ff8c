-- Set or remove the silence of open incidents.
update rota.incidents as i
set
    silence_id = n.silence_id,
    silenced_until = n.silenced_until
from
    unnest(
        :incident_ids::uuid[],
        :silence_ids::uuid[],
        :untils::timestamptz[]
    ) as n (id, silence_id, silenced_until)
where
    i.id = n.id
    and i.state <> 'resolved'
returning i.id, i.tenant_id, i.silence_id, i.silenced_until;
