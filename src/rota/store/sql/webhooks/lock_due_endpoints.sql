-- Lock endpoints with due deliveries, the longest waiting first. Those that another sender has
-- locked are left to it. A failing endpoint is left alone until its next probe.
select e.id
from rota.webhook_endpoints as e
cross join
    lateral (
        select d.next_attempt_at
        from rota.webhook_deliveries as d
        where
            d.endpoint_id = e.id
            and d.state = 'pending'
            and d.next_attempt_at <= rota.now()
        order by d.next_attempt_at
        limit 1
    ) as oldest
where
    e.state = 'enabled'
    and (e.probe_at is null or e.probe_at <= rota.now())
    and (
        select count(*)
        from rota.webhook_deliveries as b
        where
            b.endpoint_id = e.id
            and b.leased_until > rota.now()
    ) < case when e.failures >= :failing_after::integer then 1 else e.concurrency end
order by oldest.next_attempt_at
limit :most::integer
for no key update of e skip locked;
