-- The groups of equal errors that stored reasons belong to, in the given order.
select
    given.place::integer as place,
    rota.failure_fingerprint(given.reason) as fingerprint
from unnest(:reasons::jsonb[]) with ordinality as given (reason, place)
order by given.place;
