-- Write groups that the caller has locked.
update rota.alert_groups as g
set
    episode = n.episode,
    began_at = n.began_at,
    last_message_at = n.last_message_at,
    messages = n.messages,
    steps = n.steps,
    next_at = n.next_at,
    changed_at = :now::timestamptz
from
    jsonb_to_recordset(:rows::jsonb) as n (
        id uuid,
        episode integer,
        began_at timestamptz,
        last_message_at timestamptz,
        messages integer,
        steps jsonb,
        next_at timestamptz
    )
where g.id = n.id;
