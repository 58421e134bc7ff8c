-- Plan messages: one row per message and channel, whatever number of processes plans it.
insert into rota.notifications (
    id, tenant_id, group_id, episode, channel, kind, severity, state, dedup_key, content,
    incident_ids, incident_count, created_at, next_at, error
)
select
    n.id,
    n.tenant_id,
    n.group_id,
    n.episode,
    n.channel,
    n.kind,
    n.severity,
    n.state,
    n.dedup_key,
    n.content,
    n.incident_ids,
    n.incident_count,
    :now::timestamptz,
    case when n.state = 'pending' then :now::timestamptz end,
    n.error
from
    jsonb_to_recordset(:rows::jsonb) as n (
        id uuid,
        tenant_id integer,
        group_id uuid,
        episode integer,
        channel text,
        kind text,
        severity text,
        state text,
        dedup_key text,
        content jsonb,
        incident_ids uuid[],
        incident_count integer,
        error text
    )
order by n.id
on conflict (id) do nothing
returning id;
