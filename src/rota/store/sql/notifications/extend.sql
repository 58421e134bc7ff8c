-- Keep a message that is still being sent.
update rota.notifications as n
set lease_until = :now::timestamptz + :lease::interval
where
    n.id = :id::uuid
    and n.state = 'sending'
    and n.attempts = :attempts::integer
returning n.id;
