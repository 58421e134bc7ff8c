-- Record that a channel accepted a message; return since when it had failed.
with before as (
    select
        c.name,
        c.failing_since
    from rota.alert_channels as c
    where c.name = :name::text
    for update
)

update rota.alert_channels as c
set
    last_sent_at = :now::timestamptz,
    failing_since = null,
    failures = 0,
    last_error = null
from before as b
where c.name = b.name
returning c.name, c.failures, b.failing_since;
