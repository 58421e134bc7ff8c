-- Lock gates. One that somebody else has locked is left out; its turn comes with the next claim.
-- The rows are the newest there are, but the snapshot is older than the lock: who is held behind
-- them must be counted by a statement of its own, afterwards (docs/adr/0010-gates.md).
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
