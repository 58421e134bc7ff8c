-- Add entries to the threads of incidents.
insert into rota.incident_events (tenant_id, incident_id, at, type, by, text, details)
select
    n.tenant_id,
    n.incident_id,
    :now::timestamptz,
    n.type,
    n.by,
    n.text,
    n.details
from
    jsonb_to_recordset(:rows::jsonb) as n (
        tenant_id integer,
        incident_id uuid,
        type text,
        by text,
        text text,
        details jsonb
    );
