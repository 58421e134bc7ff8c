-- Store the rules of zones. Replaced rules are kept as the previous ones.
insert into rota.zone_rules as z (zone, rules)
select
    n.zone,
    n.rules
from unnest(:zones::text[], :rules::bytea[]) as n (zone, rules)
on conflict (zone) do update
    set
        previous = nullif(z.rules, excluded.rules),
        rules = excluded.rules;
