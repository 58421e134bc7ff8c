-- Record that a message was sent, unless another attempt has begun.
update rota.notifications as n
set
    state = 'sent',
    sent_at = :now::timestamptz,
    next_at = null,
    lease_until = null,
    error = null
where
    n.id = :id::uuid
    and n.state = 'sending'
    and n.attempts = :attempts::integer
returning n.id;
