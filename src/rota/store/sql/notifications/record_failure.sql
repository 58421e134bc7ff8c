-- Record a failed attempt: try again at `next_at`, or never if it is null.
update rota.notifications as n
set
    state = case when :next_at::timestamptz is null then 'failed' else 'pending' end,
    next_at = :next_at::timestamptz,
    lease_until = null,
    error = :error::text
where
    n.id = :id::uuid
    and n.state = 'sending'
    and n.attempts = :attempts::integer
returning n.id;
