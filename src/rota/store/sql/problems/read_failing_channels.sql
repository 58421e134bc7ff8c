-- Alert channels whose last message was not accepted. Row-level security shows a tenant the
-- channels that it may use.
select
    c.name,
    c.kind,
    c.failing_since,
    c.failures,
    c.last_error
from rota.alert_channels as c
where c.failing_since is not null
order by c.failing_since
limit :most::integer;
