-- What all endpoints subscribe to. Disabled ones too: their events are held.
select
    e.id,
    e.tenant_id,
    e.events,
    e.filter,
    e.include,
    e.created_at
from rota.webhook_endpoints as e
order by e.id;
