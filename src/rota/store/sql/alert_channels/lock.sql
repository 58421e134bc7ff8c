-- A channel, locked for claiming its messages. No row: another process has it locked, or it was
-- not reported.
select
    c.name,
    c.kind,
    c.tenants,
    c.is_default,
    c.recovery,
    c.minimum_severity,
    c.messages_per_hour,
    c.pages_per_hour,
    c.sent_times,
    c.page_times,
    c.digest_at,
    c.last_sent_at,
    c.failing_since,
    c.failures,
    c.last_error,
    c.reported_at
from rota.alert_channels as c
where c.name = :name::text
for update skip locked;
