-- Record a signal. A ping that is down, or whose work failed, is checked at once; a healthy one
-- when its next success is overdue.
update rota.pings as p
set
    pinged_at = rota.now(),
    succeeded_at = case when :signal::text = 'success' then rota.now() else p.succeeded_at end,
    failed_at = case when :signal::text = 'fail' then rota.now() else p.failed_at end,
    began_at = case
        when :signal::text = 'start' then rota.now()
        when :signal::text in ('success', 'fail') then null
        else p.began_at
    end,
    overdue_at = coalesce(:overdue_at::timestamptz, p.overdue_at),
    check_at = case
        when :signal::text = 'log' then p.check_at
        when :signal::text = 'fail' then rota.now()
        when :signal::text = 'success' and p.is_down then rota.now()
        when :signal::text = 'start' then least(p.check_at, rota.now() + p.grace)
        else coalesce(:overdue_at::timestamptz, p.overdue_at)
    end
where p.id = :id::uuid
returning p.id;
