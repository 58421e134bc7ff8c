-- Lock gates. One that another transaction has locked is skipped until the next claim. The rows are
-- current, but the snapshot is older than the lock: a separate, later statement must count the
-- holders (docs/adr/0010-gates.md).
select
    g.id,
    g.most,
    g.rate_count,
    g.rate_per,
    g.rate_burst,
    g.paid_until,
    g.in_order,
    rota.now() as now
from rota.gates as g
where g.id = any(:ids::integer[])
order by g.id
for no key update skip locked;
