-- A group at which a process must look, if there is one.
select g.id
from rota.alert_groups as g
where g.next_at <= :now::timestamptz
order by g.next_at
limit 1;
