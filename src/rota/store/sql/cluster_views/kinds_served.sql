-- The kinds of jobs that some living worker executes for a tenant. `fields` are all fields that
-- their payloads may have, if a worker declared them.
select
    k.name,
    case
        when k.payload_schema ->> 'additionalProperties' = 'false'
            then array(select jsonb_object_keys(k.payload_schema -> 'properties'))
    end as fields
from rota.kinds as k
where
    exists (
        select 1
        from rota.sessions as s
        where
            s.role = 'worker'
            and s.expires_at > (select rota.now())
            and k.id = any(s.kinds)
            and exists (
                select 1 from unnest(s.queues) as served (queue_id)
                where rota.serves_tenant(s.serves, served.queue_id, :tenant::text)
            )
    );
