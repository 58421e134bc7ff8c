-- Groups at which a process must look, locked. Another process may have locked some.
select
    g.id,
    g.tenant_id,
    coalesce(t.name, 'platform') as tenant,
    g.route,
    g.expectation_id,
    g.expectation_name,
    g.recovery,
    g.episode,
    g.began_at,
    g.last_message_at,
    g.messages,
    g.steps
from rota.alert_groups as g
left join rota.tenants as t on g.tenant_id = t.id
where g.next_at <= :now::timestamptz
order by g.next_at
limit :most::integer
for update of g skip locked;
