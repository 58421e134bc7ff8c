-- Store until when the rate of each gate is used up. The caller has locked the gates.
update rota.gates as g
set paid_until = p.paid_until
from unnest(:ids::integer[], :paid_untils::timestamptz[]) as p (id, paid_until)
where g.id = p.id;
