-- How many unused tickets a key has created recently.
select count(*) as number
from rota.logins as l
where
    l.key_id = :key_id::uuid
    and l.is_ticket
    and l.created_at > rota.now() - :age::interval;
